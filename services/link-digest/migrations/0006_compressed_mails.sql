-- Mails are kept compressed with Brotli; those that were refused, or came before, as they came.
alter table raw_mails add column is_compressed boolean not null default false;
