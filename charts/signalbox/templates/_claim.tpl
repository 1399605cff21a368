{{/* A volumeClaimTemplate: Kubernetes refuses to change it, so it holds nothing that a version or a common label changes. */}}

{{/* Annotations that keep a claim when Argo CD or Helm removes its workload */}}
{{- define "signalbox.keptClaim" -}}
argocd.argoproj.io/sync-options: Prune=false,Delete=false
helm.sh/resource-policy: keep
{{- end -}}

{{/* A claim's spec. persistence */}}
{{- define "signalbox.claimSpec" -}}
accessModes: {{ toJson .accessModes }}
{{- with .storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests: { storage: {{ .size }} }
{{- end -}}

{{/* Nothing where the claim is there already. root, component, name, persistence */}}
{{- define "signalbox.claim" -}}
{{- if not .persistence.existingClaim -}}
{{- /* Kubernetes puts the selector's labels onto each claim: without the first an Argo CD that tracks by labels deletes it with its StatefulSet. */ -}}
{{- $kept := merge (dict "argocd.argoproj.io/compare-options" "IgnoreExtraneous") (include "signalbox.keptClaim" . | fromYaml) (.persistence.annotations | default dict) -}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: {{ .name }}
    labels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
    annotations:
      {{- toYaml $kept | nindent 6 }}
  spec:
    {{- include "signalbox.claimSpec" .persistence | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* The volume `data` of a claim that is there already. persistence */}}
{{- define "signalbox.claimVolume" -}}
{{- with .existingClaim -}}
- name: data
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end -}}
{{- end -}}
