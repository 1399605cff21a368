{{/* The container of Redis. */}}
{{- define "signalbox.redisContainer" -}}
{{- $parts := dict "root" . "name" "redis" "path" "redis" "options" .Values.redis "pullPolicy" .Values.image.pullPolicy -}}
{{- $_ := set $parts "image" (include "signalbox.image" (dict "root" . "image" .Values.redis.image)) -}}
{{- $_ := set $parts "run" (include "signalbox.redisCommand" .) -}}
{{- $_ := set $parts "env" (include "signalbox.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" (include "signalbox.credentialsSecret" .) "key" "redis-password")) -}}
{{- $_ := set $parts "ports" "- { name: redis, containerPort: 6379, protocol: TCP }" -}}
{{- $_ := set $parts "probes" (include "signalbox.redisProbes" . | fromYaml) -}}
{{- $_ := set $parts "volumeMounts" "- { name: data, mountPath: /data }" -}}
{{ include "signalbox.container" $parts }}
{{- end -}}

{{- define "signalbox.redisCommand" -}}
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
{{- end -}}

{{- define "signalbox.redisProbes" -}}
startup:
  tcpSocket: { port: redis }
  periodSeconds: 2
  failureThreshold: 30
readiness:
  # Without the password it answers NOAUTH: alive, and nothing of it is in a list of processes.
  exec: { command: [redis-cli, -t, "2", ping] }
  periodSeconds: 5
  timeoutSeconds: 3
liveness:
  tcpSocket: { port: redis }
  periodSeconds: 20
  timeoutSeconds: 5
{{- end -}}
