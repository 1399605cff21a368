{{/* Dumps and restores: a pod of the image of Postgres with the claim of dumps. */}}

{{- define "signalbox.backupClaim" -}}
{{ .Values.backup.persistence.existingClaim | default (include "signalbox.componentName" (dict "root" . "component" "backup")) }}
{{- end -}}

{{/* Whether the chart has an administrator who may restore */}}
{{- define "signalbox.canRestore" -}}
{{- if and .Values.backup.enabled (or .Values.postgres.enabled .Values.postgres.external.createRoles) -}}yes{{- end -}}
{{- end -}}

{{/* Environment variables that libpq reads. root, user, secret, key */}}
{{- define "signalbox.libpqEnvironment" -}}
{{- $postgres := .root.Values.postgres -}}
{{- $external := $postgres.external -}}
- { name: PGHOST, value: {{ ternary (include "signalbox.componentName" (dict "root" .root "component" "postgres")) $external.host $postgres.enabled | quote }} }
- { name: PGPORT, value: {{ ternary "5432" (toString $external.port) $postgres.enabled | quote }} }
- { name: PGDATABASE, value: {{ ternary $postgres.database $external.database $postgres.enabled | quote }} }
- { name: PGUSER, value: {{ .user | quote }} }
{{ include "signalbox.fromSecret" (dict "name" "PGPASSWORD" "secret" .secret "key" .key) }}
{{- if not $postgres.enabled }}
{{- with $external.sslmode }}
- { name: PGSSLMODE, value: {{ . | quote }} }
{{- end }}
{{- if $external.caSecret }}
- { name: PGSSLROOTCERT, value: /etc/signalbox/postgres-ca/ca.crt }
{{- else if eq $external.sslmode "verify-full" }}
- { name: PGSSLROOTCERT, value: system }
{{- end }}
{{- end }}
{{- end -}}

{{/* root, component, script, env (text) */}}
{{- define "signalbox.backupPod" -}}
{{- $root := .root -}}
{{- $parts := dict "options" $root.Values.backup "path" "backup" "user" 999 "restartPolicy" "Never" "pullPolicy" $root.Values.image.pullPolicy -}}
{{- $_ := set $parts "image" (include "signalbox.image" (dict "root" $root "image" $root.Values.postgres.image)) -}}
{{- $script := $root.Files.Get (printf "files/backup/%s" .script) | trim -}}
{{- $_ := set $parts "run" (printf "command: [sh, -c]\nargs:\n  - |%s" (nindent 4 $script)) -}}
{{- $authority := include "signalbox.hasPostgresAuthority" $root -}}
{{- $_ := set $parts "volumeMounts" (include "signalbox.backupMounts" $authority) -}}
{{- $_ := set $parts "volumes" (include "signalbox.backupVolumes" $root) -}}
{{- $container := include "signalbox.container" (merge (dict "name" .component) $parts .) -}}
{{ include "signalbox.pod" (merge (dict "container" $container) $parts .) }}
{{- end -}}

{{/* whether Postgres has an authority of its own */}}
{{- define "signalbox.backupMounts" -}}
- { name: backups, mountPath: /backups }
- { name: temporary, mountPath: /tmp }
{{- if . }}
- { name: postgres-ca, mountPath: /etc/signalbox/postgres-ca, readOnly: true }
{{- end }}
{{- end -}}

{{- define "signalbox.backupVolumes" -}}
- name: backups
  persistentVolumeClaim: { claimName: {{ include "signalbox.backupClaim" . }} }
- { name: temporary, emptyDir: { sizeLimit: 16Mi } }
{{- if include "signalbox.hasPostgresAuthority" . }}
- name: postgres-ca
  secret: { secretName: {{ .Values.postgres.external.caSecret }} }
{{- end }}
{{- end -}}
