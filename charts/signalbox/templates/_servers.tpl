{{/* Where Postgres, the message broker and Redis are. */}}

{{- define "signalbox.credentialsSecret" -}}
{{ .Values.existingSecret | default (printf "%s-credentials" (include "signalbox.fullname" .)) }}
{{- end -}}

{{/* host:port/database?parameters, what follows the user in a URL */}}
{{- define "signalbox.postgresAddress" -}}
{{- if .Values.postgres.enabled -}}
{{ include "signalbox.componentName" (dict "root" . "component" "postgres") }}:5432/{{ .Values.postgres.database }}
{{- else -}}
{{- $external := .Values.postgres.external -}}
{{- $parameters := list -}}
{{- with $external.sslmode -}}{{- $parameters = append $parameters (printf "sslmode=%s" .) -}}{{- end -}}
{{- if $external.caSecret -}}{{- $parameters = append $parameters "sslrootcert=/etc/signalbox/postgres-ca/ca.crt" -}}{{- end -}}
{{ $external.host }}:{{ $external.port }}/{{ $external.database }}{{ with $parameters }}?{{ join "&" . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* rabbitmq, external, embedded, or none: only the connections of the environment file */}}
{{- define "signalbox.brokerKind" -}}
{{- if .Values.rabbitmq.enabled -}}
rabbitmq
{{- else if .Values.rabbitmq.external.existingSecret -}}
external
{{- else if .Values.rabbitmq.embedded -}}
embedded
{{- else -}}
none
{{- end -}}
{{- end -}}

{{/* The Secret with the file of connections; there is always one when nothing else names any. root, workload */}}
{{- define "signalbox.environmentFileSecret" -}}
{{- if eq (.workload.broker | default "") "BROKER_URL_1" -}}
{{- $needed := eq (include "signalbox.brokerKind" .root) "none" -}}
{{ .workload.environmentFileSecret | default (ternary (printf "%s-brokers" (include "signalbox.fullname" .root)) "" $needed) }}
{{- end -}}
{{- end -}}

{{/* own, external, or nothing */}}
{{- define "signalbox.redisKind" -}}
{{- if .Values.redis.enabled -}}
own
{{- else if .Values.redis.external.existingSecret -}}
external
{{- end -}}
{{- end -}}
