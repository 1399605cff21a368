{{/* The environment of the migrate Job: the address of Postgres, the administrator's password, and a password for each role that it creates or logs in as. */}}

{{/* root, services (names) */}}
{{- define "signalbox.migrateEnvironment" -}}
{{- $root := .root -}}
{{- $secret := include "signalbox.credentialsSecret" $root -}}
{{- $external := $root.Values.postgres.external -}}
{{- $makesRoles := or $root.Values.postgres.enabled $external.createRoles -}}
- name: POSTGRES_URL
  value: postgres://{{ include "signalbox.postgresAddress" $root }}
{{- if $root.Values.postgres.enabled }}
- { name: POSTGRES_ADMIN_USER, value: postgres }
{{ include "signalbox.fromSecret" (dict "name" "POSTGRES_ADMIN_PASSWORD" "secret" $secret "key" "postgres-admin-password") }}
{{- else if $external.createRoles }}
- { name: POSTGRES_ADMIN_USER, value: {{ $external.adminUsername }} }
{{ include "signalbox.fromSecret" (dict "name" "POSTGRES_ADMIN_PASSWORD" "secret" ($external.existingSecret | default $secret) "key" $external.adminPasswordKey) }}
{{- end }}
{{- $roles := dict }}
{{- $services := include "signalbox.services" $root | fromJson }}
{{- range $name := .services }}
{{- $service := get $services $name }}
{{- $_ := set $roles $service.schema (dict "path" (printf "services.%s" $name) "own" $service.database) }}
{{- end }}
{{- if eq (include "signalbox.brokerKind" $root) "embedded" }}
{{- $_ := set $roles "broker" (dict "path" "rabbitmq" "own" $root.Values.rabbitmq.database) }}
{{- end }}
{{- /* Nothing logs in as it here: its password is for who makes it. */}}
{{- if and $root.Values.backup.enabled $makesRoles }}
{{- $_ := set $roles "backup" (dict "path" "backup" "own" $root.Values.backup.database) }}
{{- end }}
{{- range $schema, $of := $roles }}
{{- $role := include "signalbox.databaseRole" (dict "root" $root "schema" $schema "own" $of.own) | fromJson }}
{{- if and $makesRoles (ne $role.user $schema) }}
{{- fail (printf "%s.database.username: the roles that this chart makes have the names of their schemas; set postgres.external.createRoles: false to use other roles" $of.path) }}
{{- end }}
{{- /* The Job's log names a key that the user's Secret lacks; with the chart's own Secret a pod waits for it. */}}
{{- $isTheirs := or $root.Values.existingSecret (ne $role.secret $secret) }}
{{ include "signalbox.fromSecret" (dict "name" (printf "POSTGRES_%s_PASSWORD" (upper $schema)) "secret" $role.secret "key" $role.key "optional" $isTheirs) }}
{{- if ne $role.user $schema }}
- { name: POSTGRES_{{ upper $schema }}_USER, value: {{ $role.user | quote }} }
{{- end }}
{{- end }}
{{- with $root.Values.defaults.settings.LOG_LEVEL }}
- { name: LOG_LEVEL, value: {{ . }} }
{{- end }}
{{- end -}}
