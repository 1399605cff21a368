-- Users are in no repository; they bore that of the event that named them first.

update users set repository = null where repository is not null;
