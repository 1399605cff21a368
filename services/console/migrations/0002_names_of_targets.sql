-- The name of the thing that an action changed, where its target is an id.
alter table actions add column name text;
