{{/* The container of Postgres. Parameters are arguments: a changed one rolls the pod. */}}
{{- define "signalbox.postgresContainer" -}}
name: postgres
image: {{ include "signalbox.image" (dict "root" . "image" .Values.postgres.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.postgres.parameters }}
args:
  {{- range $name, $value := . }}
  - -c
  - {{ printf "%s=%s" $name (include "signalbox.text" $value) | quote }}
  {{- end }}
{{- end }}
env:
  - { name: PGDATA, value: {{ include "signalbox.postgresDataDirectory" . }} }
  - { name: POSTGRES_DB, value: {{ .Values.postgres.database }} }
  {{- include "signalbox.fromSecret" (dict "name" "POSTGRES_PASSWORD" "secret" (include "signalbox.credentialsSecret" .) "key" "postgres-admin-password") | nindent 2 }}
ports:
  - { name: postgres, containerPort: 5432, protocol: TCP }
# By TCP: while the image makes a new database, a server without one answers at the socket.
startupProbe:
  exec: { command: [pg_isready, --host=127.0.0.1, --username=postgres] }
  periodSeconds: 2
  timeoutSeconds: 3
  # Ten minutes, for the recovery after a crash.
  failureThreshold: 300
readinessProbe:
  exec: { command: [pg_isready, --host=127.0.0.1, --username=postgres] }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  tcpSocket: { port: postgres }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
resources:
  {{- toYaml .Values.postgres.resources | nindent 2 }}
securityContext:
  {{- include "signalbox.containerSecurity" . | nindent 2 }}
volumeMounts:
  - { name: data, mountPath: /var/lib/postgresql }
  - { name: socket, mountPath: /var/run/postgresql }
  - { name: temporary, mountPath: /tmp }
  - { name: shared-memory, mountPath: /dev/shm }
{{- end -}}
