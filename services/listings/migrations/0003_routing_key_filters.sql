-- What is asked of a routing key beside it is told by the index: of the rows that do not match none is fetched. Measured at a million listings,
-- a page of a routing key in a narrow range of prices: 4.8 ms without.
drop index properties_by_routing_key;
create index properties_by_routing_key on properties (status, routing_key, received_at desc, id, price_monthly, beds);
