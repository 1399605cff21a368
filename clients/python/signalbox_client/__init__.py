"""Clients of Signalbox: `signalbox_client.secrets` and `signalbox_client.events`."""
