{{/* The parts of Deployments and StatefulSets beside their pod, and PodDisruptionBudgets, for both charts. */}}

{{/* A Deployment. root, component, options, pod (text of signalbox.pod); optional: name, replicas (none: an autoscaler's), strategy (map) */}}
{{- define "signalbox.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "signalbox.metadata" (merge (dict "annotations" .options.annotations) .) | nindent 2 }}
spec:
  {{- if hasKey . "replicas" }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: {{ dig "revisionHistoryLimit" 3 .options }}
  strategy:
    {{- .options.strategy | default .strategy | toYaml | nindent 4 }}
  selector:
    matchLabels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
  template:
    {{- .pod | nindent 4 }}
{{- end -}}

{{/* A StatefulSet whose pods have names by the Service <component>-pods. root, component, options, pod, replicas, claim (text); optional: podManagementPolicy */}}
{{- define "signalbox.statefulSet" -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "signalbox.metadata" (merge (dict "annotations" .options.annotations) .) | nindent 2 }}
spec:
  serviceName: {{ include "signalbox.componentName" (dict "root" .root "component" (printf "%s-pods" .component)) }}
  replicas: {{ .replicas }}
  revisionHistoryLimit: {{ dig "revisionHistoryLimit" 3 .options }}
  {{- with .podManagementPolicy }}
  podManagementPolicy: {{ . }}
  {{- end }}
  {{- with .options.updateStrategy }}
  updateStrategy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .retention }}
  persistentVolumeClaimRetentionPolicy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
  template:
    {{- .pod | nindent 4 }}
  {{- with .claim }}
  volumeClaimTemplates:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A drained node takes pods of a component one after the other. root, component, budget (of the values); optional: name */}}
{{- define "signalbox.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "signalbox.metadata" . | nindent 2 }}
spec:
  {{- if eq (toString .budget.minAvailable) "" }}
  maxUnavailable: {{ .budget.maxUnavailable }}
  {{- else }}
  minAvailable: {{ .budget.minAvailable }}
  {{- end }}
  # A pod that is not ready serves no requests and must not hold up a drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
{{- end -}}
