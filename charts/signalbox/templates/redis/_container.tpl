{{/* The container of Redis. */}}
{{- define "signalbox.redisContainer" -}}
name: redis
image: {{ include "signalbox.image" (dict "root" . "image" .Values.redis.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
# The configuration by standard input: an argument would show the password to every process of the node.
command: [sh, -ec]
args:
  - |
    exec redis-server - <<END
    requirepass $REDIS_PASSWORD
    save ""
    appendonly no
    dir /data
    maxmemory {{ .Values.redis.maxMemory }}
    maxmemory-policy volatile-ttl
    END
env:
  {{- include "signalbox.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" (include "signalbox.credentialsSecret" .) "key" "redis-password") | nindent 2 }}
ports:
  - { name: redis, containerPort: 6379, protocol: TCP }
startupProbe:
  tcpSocket: { port: redis }
  periodSeconds: 2
  failureThreshold: 30
readinessProbe:
  # Without the password it answers NOAUTH: alive, and nothing of it is in a list of processes.
  exec: { command: [redis-cli, -t, "2", ping] }
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  tcpSocket: { port: redis }
  periodSeconds: 20
  timeoutSeconds: 5
resources:
  {{- toYaml .Values.redis.resources | nindent 2 }}
securityContext:
  {{- include "signalbox.containerSecurity" . | nindent 2 }}
volumeMounts:
  - { name: data, mountPath: /data }
{{- end -}}
