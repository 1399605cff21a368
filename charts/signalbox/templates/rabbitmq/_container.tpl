{{/* The container of RabbitMQ. */}}
{{- define "signalbox.rabbitmqContainer" -}}
{{- $parts := dict "root" . "name" "rabbitmq" "path" "rabbitmq" "options" .Values.rabbitmq "pullPolicy" .Values.image.pullPolicy -}}
{{- $_ := set $parts "image" (include "signalbox.image" (dict "root" . "image" .Values.rabbitmq.image)) -}}
{{- $_ := set $parts "env" (include "signalbox.rabbitmqEnvironment" .) -}}
{{- $_ := set $parts "ports" "- { name: amqp, containerPort: 5672, protocol: TCP }\n- { name: metrics, containerPort: 15692, protocol: TCP }" -}}
{{- $_ := set $parts "probes" (include "signalbox.rabbitmqProbes" . | fromYaml) -}}
{{- $_ := set $parts "volumeMounts" (include "signalbox.rabbitmqMounts" .) -}}
{{ include "signalbox.container" $parts }}
{{- end -}}

{{- define "signalbox.rabbitmqEnvironment" -}}
- { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: RABBITMQ_NODENAME, value: rabbit@$(POD_NAME) }
{{ include "signalbox.fromSecret" (dict "name" "RABBITMQ_ERLANG_COOKIE" "secret" (include "signalbox.credentialsSecret" .) "key" "rabbitmq-erlang-cookie") }}
{{- end -}}

{{- define "signalbox.rabbitmqProbes" -}}
startup:
  tcpSocket: { port: amqp }
  periodSeconds: 2
  # Ten minutes, for long queues.
  failureThreshold: 300
readiness:
  tcpSocket: { port: amqp }
  periodSeconds: 5
  timeoutSeconds: 3
# It starts an Erlang node each time: seldom.
liveness:
  exec: { command: [rabbitmq-diagnostics, --quiet, ping] }
  periodSeconds: 60
  timeoutSeconds: 30
  failureThreshold: 3
{{- end -}}

{{- define "signalbox.rabbitmqMounts" -}}
- { name: data, mountPath: /var/lib/rabbitmq }
# In place of the image's own, which lets guest in from everywhere.
- { name: configuration, mountPath: /etc/rabbitmq/conf.d, readOnly: true }
- { name: definitions, mountPath: /etc/rabbitmq/definitions, readOnly: true }
- { name: temporary, mountPath: /tmp }
- { name: logs, mountPath: /var/log/rabbitmq }
{{- end -}}

{{- define "signalbox.rabbitmqVolumes" -}}
- { name: configuration, configMap: { name: {{ include "signalbox.componentName" (dict "root" . "component" "rabbitmq") }} } }
- { name: definitions, emptyDir: { medium: Memory, sizeLimit: 1Mi } }
- { name: temporary, emptyDir: { sizeLimit: 64Mi } }
- { name: logs, emptyDir: { sizeLimit: 32Mi } }
{{ include "signalbox.claimVolume" .Values.rabbitmq.persistence }}
{{- end -}}
