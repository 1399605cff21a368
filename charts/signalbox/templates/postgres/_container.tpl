{{/* The container of Postgres. Parameters are arguments: a changed one rolls the pod. */}}
{{- define "signalbox.postgresContainer" -}}
{{- $parts := dict "root" . "name" "postgres" "path" "postgres" "options" .Values.postgres "pullPolicy" .Values.image.pullPolicy -}}
{{- $_ := set $parts "image" (include "signalbox.image" (dict "root" . "image" .Values.postgres.image)) -}}
{{- $_ := set $parts "run" (include "signalbox.postgresArguments" .) -}}
{{- $_ := set $parts "env" (include "signalbox.postgresEnvironment" .) -}}
{{- $_ := set $parts "fixed" (list "PGDATA" "POSTGRES_DB" "POSTGRES_PASSWORD") -}}
{{- $_ := set $parts "ports" "- { name: postgres, containerPort: 5432, protocol: TCP }" -}}
{{- $_ := set $parts "probes" (include "signalbox.postgresProbes" . | fromYaml) -}}
{{- $_ := set $parts "volumeMounts" (include "signalbox.postgresMounts" .) -}}
{{ include "signalbox.container" $parts }}
{{- end -}}

{{- define "signalbox.postgresArguments" -}}
{{- with .Values.postgres.parameters }}
args:
  {{- range $name, $value := . }}
  - -c
  - {{ printf "%s=%s" $name (include "signalbox.text" $value) | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "signalbox.postgresEnvironment" -}}
- { name: PGDATA, value: {{ include "signalbox.postgresDataDirectory" . }} }
- { name: POSTGRES_DB, value: {{ .Values.postgres.database }} }
{{ include "signalbox.fromSecret" (dict "name" "POSTGRES_PASSWORD" "secret" (include "signalbox.credentialsSecret" .) "key" "postgres-admin-password") }}
{{- end -}}

{{- define "signalbox.postgresProbes" -}}
# By TCP: while the image makes a new database, a server without one answers at the socket.
startup:
  exec: { command: [pg_isready, --host=127.0.0.1, --username=postgres] }
  periodSeconds: 2
  timeoutSeconds: 3
  # Ten minutes, for the recovery after a crash.
  failureThreshold: 300
readiness:
  exec: { command: [pg_isready, --host=127.0.0.1, --username=postgres] }
  periodSeconds: 5
  timeoutSeconds: 3
liveness:
  tcpSocket: { port: postgres }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- define "signalbox.postgresMounts" -}}
- { name: data, mountPath: /var/lib/postgresql }
- { name: socket, mountPath: /var/run/postgresql }
- { name: temporary, mountPath: /tmp }
- { name: shared-memory, mountPath: /dev/shm }
{{- end -}}

{{- define "signalbox.postgresVolumes" -}}
- { name: socket, emptyDir: { sizeLimit: 1Mi } }
- { name: temporary, emptyDir: { sizeLimit: 64Mi } }
# Parallel queries share memory here; the 64 MiB of a container are too few.
- { name: shared-memory, emptyDir: { medium: Memory, sizeLimit: 256Mi } }
{{ include "signalbox.claimVolume" .Values.postgres.persistence }}
{{- end -}}
