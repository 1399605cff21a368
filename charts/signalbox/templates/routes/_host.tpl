{{/* The host name of a service. host, domain */}}
{{- define "signalbox.host" -}}
{{- if contains "." .host -}}
{{ .host }}
{{- else -}}
{{ .host }}.{{ .domain }}
{{- end -}}
{{- end -}}
