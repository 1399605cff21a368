-- Workers keep no record of the connections that they consume any more: what is removed while none runs is the operator's to empty.

drop table consumed_connections;
