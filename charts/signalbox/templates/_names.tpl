{{/* Names and labels. Nothing in a selector changes from one version of the chart to the next. */}}

{{- define "signalbox.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}

{{- define "signalbox.fullname" -}}
{{- $name := include "signalbox.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Of what belongs to a component, at most 52 characters: what Kubernetes hangs onto the name of a CronJob or a StatefulSet
     must fit into 63. A name cut short ends its first part with a digest, so that two long releases do not meet.
     root, component */}}
{{- define "signalbox.componentName" -}}
{{- $full := include "signalbox.fullname" .root -}}
{{- $room := sub 51 (len .component) | int -}}
{{- if gt (len $full) $room -}}
{{- $full = printf "%s-%s" (trunc (sub $room 6 | int) $full | trimSuffix "-") (sha256sum $full | trunc 5) -}}
{{- end -}}
{{ $full }}-{{ .component }}
{{- end -}}

{{/* root, component */}}
{{- define "signalbox.selectorLabels" -}}
app.kubernetes.io/name: {{ include "signalbox.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Of an object. root, component */}}
{{- define "signalbox.labels" -}}
{{- $own := include "signalbox.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "signalbox" -}}
{{- $_ := set $own "app.kubernetes.io/version" (.root.Chart.AppVersion | toString) -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{ merge $own .root.Values.commonLabels | toYaml }}
{{- end -}}

{{/* Of a pod: no version, which would roll pods that did not change. root, component, own */}}
{{- define "signalbox.podLabels" -}}
{{ merge (include "signalbox.selectorLabels" . | fromYaml) (.own | default dict) .root.Values.commonLabels | toYaml }}
{{- end -}}

{{/* The metadata that every object begins with. root, component; name when it is not the component's */}}
{{- define "signalbox.metadata" -}}
name: {{ .name | default (include "signalbox.componentName" .) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "signalbox.labels" . | nindent 2 }}
{{- end -}}
