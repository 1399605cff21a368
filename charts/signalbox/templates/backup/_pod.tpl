{{/* Dumps and restores: a pod of the image of Postgres with the claim of dumps. */}}

{{- define "signalbox.backupClaim" -}}
{{ .Values.backup.persistence.existingClaim | default (include "signalbox.componentName" (dict "root" . "component" "backup")) }}
{{- end -}}

{{/* Whether the chart has an administrator who may restore */}}
{{- define "signalbox.canRestore" -}}
{{- if and .Values.backup.enabled (or .Values.postgres.enabled .Values.postgres.external.createRoles) -}}yes{{- end -}}
{{- end -}}

{{/* What libpq reads. root, user, secret, key */}}
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
{{- end }}
{{- end }}
{{- end -}}

{{/* root, component, script, env (text) */}}
{{- define "signalbox.backupPod" -}}
{{- $root := .root -}}
{{- $backup := $root.Values.backup -}}
metadata:
  labels:
    {{- include "signalbox.podLabels" . | nindent 4 }}
  {{- with $backup.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ include "signalbox.componentName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- include "signalbox.podSecurity" 999 | nindent 4 }}
  {{- with include "signalbox.pullSecrets" $root | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "signalbox.image" (dict "root" $root "image" $root.Values.postgres.image) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [sh, -c]
      args:
        - |
          {{- $root.Files.Get (printf "files/backup/%s" .script) | trim | nindent 10 }}
      env:
        {{- .env | nindent 8 }}
      resources:
        {{- toYaml $backup.resources | nindent 8 }}
      securityContext:
        {{- include "signalbox.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: backups, mountPath: /backups }
        - { name: temporary, mountPath: /tmp }
        {{- if include "signalbox.hasPostgresAuthority" $root }}
        - { name: postgres-ca, mountPath: /etc/signalbox/postgres-ca, readOnly: true }
        {{- end }}
  volumes:
    - name: backups
      persistentVolumeClaim: { claimName: {{ include "signalbox.backupClaim" $root }} }
    - { name: temporary, emptyDir: { sizeLimit: 16Mi } }
    {{- if include "signalbox.hasPostgresAuthority" $root }}
    - name: postgres-ca
      secret: { secretName: {{ $root.Values.postgres.external.caSecret }} }
    {{- end }}
  {{- with include "signalbox.scheduling" $backup | trim }}
  {{- . | nindent 2 }}
  {{- end }}
{{- end -}}
