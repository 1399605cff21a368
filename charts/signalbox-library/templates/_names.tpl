{{/* Names and labels. Nothing in a selector changes from one version of the chart to the next. */}}

{{- define "signalbox.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}

{{/* The beginning of every name, at most 50 characters */}}
{{- define "signalbox.fullname" -}}
{{- $name := include "signalbox.name" . -}}
{{- $full := .Values.fullnameOverride | default .Release.Name -}}
{{- if not (or .Values.fullnameOverride (contains $name .Release.Name)) -}}
{{- $full = printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{ include "signalbox.cut" (dict "text" $full "room" 50) }}
{{- end -}}

{{/* A text in its room: one that is cut short ends with a digest of the whole, so that two long names do not meet. text, room */}}
{{- define "signalbox.cut" -}}
{{- if gt (len .text) (int .room) -}}
{{ trunc (sub .room 6 | int) .text | trimSuffix "-" }}-{{ sha256sum .text | trunc 5 }}
{{- else -}}
{{ .text | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* The name of a component's objects, at most 52 characters, so that it fits into 63 with the suffixes that Kubernetes adds to the names of
     CronJobs and StatefulSets. root, component */}}
{{- define "signalbox.componentName" -}}
{{ include "signalbox.cut" (dict "text" (include "signalbox.fullname" .root) "room" (sub 51 (len .component))) }}-{{ .component }}
{{- end -}}

{{/* root, component */}}
{{- define "signalbox.selectorLabels" -}}
app.kubernetes.io/name: {{ include "signalbox.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of an object. root, component */}}
{{- define "signalbox.labels" -}}
{{- $own := include "signalbox.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "signalbox" -}}
{{- $_ := set $own "app.kubernetes.io/version" (.root.Chart.AppVersion | toString) -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{ merge $own .root.Values.commonLabels | toYaml }}
{{- end -}}

{{/* Labels of a pod, without a version, which would restart pods that did not change. root, component, own */}}
{{- define "signalbox.podLabels" -}}
{{ merge (include "signalbox.selectorLabels" . | fromYaml) (.own | default dict) .root.Values.commonLabels | toYaml }}
{{- end -}}

{{/* Where the objects are */}}
{{- define "signalbox.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end -}}

{{/* The metadata that every object begins with; its labels are last, for more of them. root, component; name when it is not the component's,
     namespace when it may be another than the release's: there a release of the same name elsewhere has its objects too; annotations (a map) */}}
{{- define "signalbox.metadata" -}}
{{- $name := .name | default (include "signalbox.componentName" .) -}}
{{- $home := include "signalbox.namespace" .root -}}
{{- $namespace := .namespace | default $home -}}
name: {{ ternary $name (include "signalbox.cut" (dict "text" (printf "%s-%s" $home $name) "room" 63)) (eq $namespace $home) }}
namespace: {{ $namespace }}
{{- with merge dict (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
labels:
  {{- include "signalbox.labels" . | nindent 2 }}
{{- end -}}
