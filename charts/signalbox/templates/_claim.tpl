{{/* A volumeClaimTemplate: Kubernetes refuses to change it, so it holds nothing that a version or a common label changes. */}}

{{/* root, component, name, persistence */}}
{{- define "signalbox.claim" -}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: {{ .name }}
    labels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
    annotations:
      # Kubernetes puts the selector's labels onto each claim: without these an Argo CD that tracks by labels deletes it with its StatefulSet.
      argocd.argoproj.io/compare-options: IgnoreExtraneous
      argocd.argoproj.io/sync-options: Prune=false,Delete=false
      helm.sh/resource-policy: keep
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .persistence.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests: { storage: {{ .persistence.size }} }
{{- end -}}
