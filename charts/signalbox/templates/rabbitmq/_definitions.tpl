{{/* The definitions that RabbitMQ imports at each start: a user each for the relay, the intake's workers and the link digest, and the queues, so that none of them needs the
     right to create queues. A test holds the queues equal to those that the services declare. */}}

{{/* Everything but the users, whose passwords no template knows. RabbitMQ's permissions: declaring needs `configure`, binding `write` on the queue and
     `read` on the exchange, consuming and purging `read` on the queue; `amq.default` routes to every queue. Consumers need it, since
     a message that is retried, returned by a consumer or sent back from the dead letters goes to one queue without the fanout exchange, and RabbitMQ
     cannot limit it to some queues. So `intake` and `digest` may write to each other's queues; neither may read them.
     No user has a tag, so none may use the management API. `signalbox` is the only user of earlier releases, kept for a rollback; no pod has its password. */}}
{{- define "signalbox.rabbitmqDefinitions" -}}
{{- $isQuorum := eq .Values.rabbitmq.queueType "quorum" -}}
{{- $queue := ternary (dict "x-queue-type" "quorum" "x-delivery-limit" 1000000) dict $isQuorum -}}
{{- $forge := merge (dict "x-dead-letter-exchange" "forge-dead-exchange") $queue (ternary dict (dict "x-max-priority" 10) $isQuorum) -}}
{{- $retry := merge (dict "x-dead-letter-exchange" "") $queue (ternary (dict "x-dead-letter-strategy" "at-least-once" "x-overflow" "reject-publish") dict $isQuorum) -}}
{{- $arguments := dict "forge.dead" $queue -}}
{{- range $name := list "forge" "forge-database" -}}
{{- $_ := set $arguments $name $forge -}}
{{- $_ := set $arguments (printf "%s.redelivered" $name) (merge (dict "x-dead-letter-exchange" "forge-dead-exchange") $queue) -}}
{{- range $index, $delayMs := list 1000 10000 -}}
{{- $_ := set $arguments (printf "%s.retry.%d" $name (add1 $index)) (merge (dict "x-message-ttl" $delayMs "x-dead-letter-routing-key" $name) $retry) -}}
{{- end -}}
{{- end -}}
{{- $newsletter := merge (dict "x-dead-letter-exchange" "newsletter-dead-exchange") $queue -}}
{{- $_ := set $arguments "newsletter.ingest" $newsletter -}}
{{- $_ := set $arguments "newsletter.ingest.redelivered" $newsletter -}}
{{- $_ := set $arguments "newsletter.ingest.dlq" $queue -}}
{{- range $index, $delayMs := list 1000 6000 36000 -}}
{{- $_ := set $arguments (printf "newsletter.ingest.retry.%d" (add1 $index)) (merge (dict "x-message-ttl" $delayMs "x-dead-letter-routing-key" "newsletter.ingest") $retry) -}}
{{- end -}}
{{- $queues := list -}}
{{- range $name, $own := $arguments -}}
{{- $queues = append $queues (dict "vhost" "/" "name" $name "durable" true "auto_delete" false "arguments" $own) -}}
{{- end -}}
{{- $exchanges := list -}}
{{- range list "forge-exchange" "forge-dead-exchange" "newsletter-exchange" "newsletter-dead-exchange" -}}
{{- $exchanges = append $exchanges (dict "vhost" "/" "name" . "type" "fanout" "durable" true "auto_delete" false "internal" false "arguments" dict) -}}
{{- end -}}
{{- $bindings := list -}}
{{- range $queue, $exchange := dict "forge" "forge-exchange" "forge-database" "forge-exchange" "forge.dead" "forge-dead-exchange"
  "newsletter.ingest" "newsletter-exchange" "newsletter.ingest.dlq" "newsletter-dead-exchange" -}}
{{- $bindings = append $bindings (dict "vhost" "/" "source" $exchange "destination" $queue "destination_type" "queue" "routing_key" "" "arguments" dict) -}}
{{- end -}}
{{- $own := "^forge([.-].*)?$" -}}
{{- $newsletters := "^newsletter([.-].*)?$" -}}
{{- $permissions := list
  (dict "vhost" "/" "user" "relay" "configure" $own "write" "^forge(-exchange|-database|\\.dead)?$" "read" "^forge-(dead-)?exchange$")
  (dict "vhost" "/" "user" "intake" "configure" $own "write" "^(amq\\.default|forge-dead-exchange|forge(-database|\\.dead)?)$" "read" $own)
  (dict "vhost" "/" "user" "digest" "configure" $newsletters "write" "^(amq\\.default|newsletter-(dead-)?exchange|newsletter\\.ingest(\\.dlq)?)$" "read" $newsletters)
  (dict "vhost" "/" "user" "signalbox" "configure" ".*" "write" ".*" "read" ".*") -}}
{{ dict "vhosts" (list (dict "name" "/")) "permissions" $permissions "exchanges" $exchanges "queues" $queues "bindings" $bindings | toPrettyJson }}
{{- end -}}

{{/* Writes the definitions with the passwords of the Secret: letters, digits, - and _, which JSON and a shell leave as they are. */}}
{{- define "signalbox.rabbitmqDefinitionsContainer" -}}
{{- $secret := include "signalbox.credentialsSecret" . -}}
name: definitions
image: {{ include "signalbox.image" (dict "root" . "image" .Values.rabbitmq.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [sh, -ec]
args:
  - |
    umask 077
    cat >/etc/rabbitmq/definitions/1-users.json <<END
    {"users": [
      {"name": "relay", "password": "$RELAY_PASSWORD", "tags": []},
      {"name": "intake", "password": "$INTAKE_PASSWORD", "tags": []},
      {"name": "digest", "password": "$DIGEST_PASSWORD", "tags": []},
      {"name": "signalbox", "password": "$SIGNALBOX_PASSWORD", "tags": []}
    ]}
    END
    cp /etc/rabbitmq/conf.d/definitions.json /etc/rabbitmq/definitions/2-topology.json
env:
  {{- include "signalbox.fromSecret" (dict "name" "RELAY_PASSWORD" "secret" $secret "key" "rabbitmq-relay-password") | nindent 2 }}
  {{- include "signalbox.fromSecret" (dict "name" "INTAKE_PASSWORD" "secret" $secret "key" "rabbitmq-intake-password") | nindent 2 }}
  {{- include "signalbox.fromSecret" (dict "name" "DIGEST_PASSWORD" "secret" $secret "key" "rabbitmq-digest-password") | nindent 2 }}
  {{- include "signalbox.fromSecret" (dict "name" "SIGNALBOX_PASSWORD" "secret" $secret "key" "rabbitmq-password") | nindent 2 }}
resources:
  {{- toYaml .Values.rabbitmq.resources | nindent 2 }}
securityContext:
  {{- include "signalbox.over" (dict "own" .Values.rabbitmq.securityContext "base" (include "signalbox.containerSecurity" . | fromYaml)) | fromJson | toYaml | nindent 2 }}
volumeMounts:
  - { name: configuration, mountPath: /etc/rabbitmq/conf.d, readOnly: true }
  - { name: definitions, mountPath: /etc/rabbitmq/definitions }
{{- end -}}
