{{/* Rules and peers of NetworkPolicies: the flows of the README's table. */}}

{{/* Pods of the release by their components. root, components (a list) */}}
{{- define "signalbox.peers" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: {{ include "signalbox.name" .root }}
      app.kubernetes.io/instance: {{ .root.Release.Name | trunc 63 | trimSuffix "-" }}
    matchExpressions:
      - { key: app.kubernetes.io/component, operator: In, values: {{ toJson .components }} }
{{- end -}}

{{/* A rule: pods of the release at ports. root, direction (from, to), components, ports */}}
{{- define "signalbox.flow" -}}
- {{ .direction }}:
    {{- include "signalbox.peers" . | nindent 4 }}
  ports:
    {{- include "signalbox.ports" .ports | trim | nindent 4 }}
{{- end -}}

{{- define "signalbox.toPostgres" -}}
{{- if .Values.postgres.enabled -}}
{{ include "signalbox.flow" (dict "root" . "direction" "to" "components" (list "postgres") "ports" (list 5432)) }}
{{- else -}}
{{ include "signalbox.flowOutside" (dict "peers" .Values.postgres.external.peers "ports" (list .Values.postgres.external.port)) }}
{{- end -}}
{{- end -}}

{{/* The environment file may name brokers outside beside the chart's own. root, workload */}}
{{- define "signalbox.toBrokers" -}}
{{- $external := .root.Values.rabbitmq.external -}}
{{- if .root.Values.rabbitmq.enabled }}
{{ include "signalbox.flow" (dict "root" .root "direction" "to" "components" (list "rabbitmq") "ports" (list 5672)) }}
{{- end }}
{{- if or $external.peers (eq (include "signalbox.brokerKind" .root) "external") (include "signalbox.environmentFileSecret" .) }}
{{ include "signalbox.flowOutside" (dict "peers" $external.peers "ports" $external.ports) }}
{{- end }}
{{- end -}}

{{/* Services that post events of Signalbox' own to the intake, as JSON: their workers leave posting to them */}}
{{- define "signalbox.eventSenders" -}}
{{ include "signalbox.once" (dict "root" . "template" "signalbox.makeEventSenders") }}
{{- end -}}

{{- define "signalbox.makeEventSenders" -}}
{{- $senders := list -}}
{{- if include "signalbox.eventsUrl" . -}}
{{- range $name, $service := include "signalbox.services" . | fromJson -}}
{{- if $service.facts.events -}}
{{- $senders = append $senders $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toJson $senders }}
{{- end -}}

{{- define "signalbox.toRedis" -}}
{{- $kind := include "signalbox.redisKind" . -}}
{{- if eq $kind "own" -}}
{{ include "signalbox.flow" (dict "root" . "direction" "to" "components" (list "redis") "ports" (list 6379)) }}
{{- else if eq $kind "external" -}}
{{ include "signalbox.flowOutside" (dict "peers" .Values.redis.external.peers "ports" (list .Values.redis.external.port)) }}
{{- end -}}
{{- end -}}
