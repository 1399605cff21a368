{{/* Images by registry, repository, tag and digest. */}}

{{/* root, image */}}
{{- define "signalbox.image" -}}
{{- if not .image.repository -}}
{{- fail "image.repository must be given: no image of Signalbox is published yet. scripts/image.sh builds one; push it where the cluster pulls from, and name it by image.registry, image.repository and image.tag" -}}
{{- end -}}
{{- $registry := .root.Values.global.imageRegistry | default .image.registry -}}
{{- $repository := ternary .image.repository (printf "%s/%s" $registry .image.repository) (empty $registry) -}}
{{- if .image.digest -}}
{{ $repository }}@{{ .image.digest }}
{{- else -}}
{{ $repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "signalbox.pullSecrets" -}}
{{- $names := list }}
{{- range concat (.Values.global.imagePullSecrets | default list) .Values.imagePullSecrets .Values.image.pullSecrets }}
{{- $names = append $names (kindIs "map" . | ternary (get (kindIs "map" . | ternary . dict) "name") .) }}
{{- end }}
{{- with uniq $names }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}
