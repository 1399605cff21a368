-- A newsletter without a subject has no title, as a refused mail has none.
alter table newsletters drop constraint newsletters_check, add constraint newsletters_refused_without_title check (title is null or rejection is null);
