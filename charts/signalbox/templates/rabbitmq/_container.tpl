{{/* The container of RabbitMQ. */}}
{{- define "signalbox.rabbitmqContainer" -}}
{{- $secret := include "signalbox.credentialsSecret" . -}}
name: rabbitmq
image: {{ include "signalbox.image" (dict "root" . "image" .Values.rabbitmq.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
  - { name: RABBITMQ_NODENAME, value: rabbit@$(POD_NAME) }
  {{- include "signalbox.fromSecret" (dict "name" "RABBITMQ_ERLANG_COOKIE" "secret" $secret "key" "rabbitmq-erlang-cookie") | nindent 2 }}
ports:
  - { name: amqp, containerPort: 5672, protocol: TCP }
  - { name: metrics, containerPort: 15692, protocol: TCP }
startupProbe:
  tcpSocket: { port: amqp }
  periodSeconds: 2
  # Ten minutes, for long queues.
  failureThreshold: 300
readinessProbe:
  tcpSocket: { port: amqp }
  periodSeconds: 5
  timeoutSeconds: 3
# It starts an Erlang node each time: seldom.
livenessProbe:
  exec: { command: [rabbitmq-diagnostics, --quiet, ping] }
  periodSeconds: 60
  timeoutSeconds: 30
  failureThreshold: 3
resources:
  {{- toYaml .Values.rabbitmq.resources | nindent 2 }}
securityContext:
  {{- include "signalbox.containerSecurity" . | nindent 2 }}
volumeMounts:
  - { name: data, mountPath: /var/lib/rabbitmq }
  # In place of the image's own, which lets guest in from everywhere.
  - { name: configuration, mountPath: /etc/rabbitmq/conf.d, readOnly: true }
  - { name: definitions, mountPath: /etc/rabbitmq/definitions, readOnly: true }
  - { name: temporary, mountPath: /tmp }
  - { name: logs, mountPath: /var/log/rabbitmq }
{{- end -}}
