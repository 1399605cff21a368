{{/* The objects of both charts for Prometheus and Grafana: monitors, the alerts of files/alerts, the dashboards of files/dashboards. */}}

{{/* Whether anything scrapes the metrics ports: text, empty for no */}}
{{- define "signalbox.scraped" -}}
{{- if or .Values.monitoring.serviceMonitor.enabled .Values.monitoring.scrapedOtherwise -}}yes{{- end -}}
{{- end -}}

{{/* A ServiceMonitor of what has a port `metrics`. root, component; name when it is not the component's */}}
{{- define "signalbox.serviceMonitor" -}}
{{- $monitor := .root.Values.monitoring.serviceMonitor -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  {{- include "signalbox.metadata" (merge (dict "annotations" $monitor.annotations "namespace" $monitor.namespace) .) | nindent 2 }}
    {{- with $monitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
  {{- with $monitor.jobLabel }}
  jobLabel: {{ . }}
  {{- end }}
  namespaceSelector: { matchNames: [{{ include "signalbox.namespace" .root }}] }
  endpoints:
    - port: metrics
      path: /metrics
      interval: {{ $monitor.interval }}
      {{- with $monitor.scrapeTimeout }}
      scrapeTimeout: {{ . }}
      {{- end }}
      {{- with $monitor.relabelings }}
      relabelings:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $monitor.metricRelabelings }}
      metricRelabelings:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{/* The alerts of the release's own namespace, since a Prometheus may see other installations: one that runs must not hide that another is gone.
     root, component, files (paths of those that are used); name when it is not the component's */}}
{{- define "signalbox.prometheusRule" -}}
{{- $rules := .root.Values.monitoring.prometheusRule -}}
{{- if not (include "signalbox.scraped" .root) -}}
{{- fail "monitoring.prometheusRule.enabled needs monitoring.serviceMonitor.enabled, or monitoring.scrapedOtherwise where metrics are scraped by other means: without metrics the alerts on what is down would fire for ever" -}}
{{- end -}}
{{- $groups := list -}}
{{- $files := .files -}}
{{- $known := list -}}
{{- range $path, $content := .root.Files.Glob "files/alerts/*.yaml" -}}
{{- range (toString $content | fromYaml).groups -}}
{{- $kept := list -}}
{{- range .rules -}}
{{- $known = append $known .alert -}}
{{- if not (has .alert $rules.excludeRules) -}}
{{- $kept = append $kept (include "signalbox.rule" (dict "root" $.root "rule" .) | fromYaml) -}}
{{- end -}}
{{- end -}}
{{- if and $kept (has $path $files) -}}
{{- $groups = append $groups (dict "name" .name "rules" $kept) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $rules.excludeRules -}}
{{- if not (has . $known) -}}
{{- fail (printf "monitoring.prometheusRule.excludeRules: there is no alert %s" .) -}}
{{- end -}}
{{- end -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  {{- include "signalbox.metadata" (merge (dict "namespace" $rules.namespace) .) | nindent 2 }}
    {{- with $rules.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  groups:
    {{- toYaml $groups | nindent 4 }}
{{- end -}}

{{/* root, rule */}}
{{- define "signalbox.rule" -}}
{{- $values := .root.Values.monitoring.prometheusRule -}}
{{- $path := .rule.annotations.runbook_url -}}
{{- /* A path alone is a dead link wherever it is shown. */ -}}
{{- $runbook := dict "runbook" $path -}}
{{- with $values.runbookUrl -}}
{{- $runbook = dict "runbook_url" (printf "%s%s" . $path) -}}
{{- end -}}
{{- $own := dict "expr" (replace "namespace=~\".+\"" (printf "namespace=%q" (include "signalbox.namespace" .root)) .rule.expr) -}}
{{- $_ := set $own "labels" (merge dict .rule.labels $values.additionalRuleLabels) -}}
{{- $_ := set $own "annotations" (merge $runbook (omit .rule.annotations "runbook_url")) -}}
{{ toYaml (merge $own (omit .rule "annotations" "labels" "expr")) }}
{{- end -}}

{{/* A ConfigMap for each dashboard. Grafana's sidecar puts all that it finds into one folder, by their keys. root */}}
{{- define "signalbox.dashboards" -}}
{{- $values := .root.Values.monitoring.grafanaDashboard -}}
{{- range $path, $content := .root.Files.Glob "files/dashboards/*.json" }}
{{- $dashboard := base $path | trimSuffix ".json" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "signalbox.metadata" (dict "root" $.root "component" (printf "dashboard-%s" $dashboard) "annotations" $values.annotations "namespace" $values.namespace) | nindent 2 }}
    {{- with $values.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
data:
  signalbox-{{ $dashboard }}.json: |-
    {{ toString $content | fromJson | toRawJson }}
{{- end }}
{{- end -}}
