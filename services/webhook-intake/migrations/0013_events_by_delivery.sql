-- Where a delivery is: its id leads an index in the order of the list, as each filter does.
create index events_by_delivery on events (delivery_id, received_at, id);
