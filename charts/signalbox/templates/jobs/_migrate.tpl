{{/* What the migrate Job is told: where Postgres is, the administrator's password, and a password for each role. */}}

{{- define "signalbox.migrateEnvironment" -}}
{{- $secret := include "signalbox.credentialsSecret" . -}}
{{- $external := .Values.postgres.external -}}
- name: POSTGRES_URL
  value: postgres://{{ include "signalbox.postgresAddress" . }}
{{- if .Values.postgres.enabled }}
- { name: POSTGRES_ADMIN_USER, value: postgres }
{{ include "signalbox.fromSecret" (dict "name" "POSTGRES_ADMIN_PASSWORD" "secret" $secret "key" "postgres-admin-password") }}
{{- else if $external.createRoles }}
- { name: POSTGRES_ADMIN_USER, value: {{ $external.adminUsername }} }
{{ include "signalbox.fromSecret" (dict "name" "POSTGRES_ADMIN_PASSWORD" "secret" ($external.existingSecret | default $secret) "key" $external.adminPasswordKey) }}
{{- end }}
{{- $schemas := list }}
{{- range include "signalbox.services" . | fromJson }}
{{- with .schema }}
{{- $schemas = append $schemas . }}
{{- end }}
{{- end }}
{{- if eq (include "signalbox.brokerKind" .) "embedded" }}
{{- $schemas = append $schemas "broker" }}
{{- end }}
{{- if .Values.backup.enabled }}
{{- $schemas = append $schemas "backup" }}
{{- end }}
{{- range $schemas | uniq | sortAlpha }}
{{ include "signalbox.fromSecret" (dict "name" (printf "POSTGRES_%s_PASSWORD" (upper .)) "secret" $secret "key" (printf "postgres-%s-password" .)) }}
{{- end }}
{{- with .Values.defaults.settings.LOG_LEVEL }}
- { name: LOG_LEVEL, value: {{ . }} }
{{- end }}
{{- end -}}
