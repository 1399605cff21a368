-- Why an act was not done, such as `No such secret`: an application's 404 does not tell, the audit does.
alter table audit_entries add column detail text;
