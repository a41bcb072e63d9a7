{{- define "glasshouse.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* The release name and the chart name, or only the release name if it contains the chart name. The result has at
most 50 characters: some objects add a suffix to it, and Kubernetes limits the names of objects to 63 characters. */}}
{{- define "glasshouse.fullname" -}}
{{- $name := include "glasshouse.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{ default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "glasshouse.selector" -}}
app.kubernetes.io/name: {{ include "glasshouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "glasshouse.labels" -}}
{{ include "glasshouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The namespace and the labels in the metadata of a namespaced object; the name is not included. */}}
{{- define "glasshouse.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "glasshouse.labels" . | nindent 2 }}
{{- end }}

{{- define "glasshouse.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "glasshouse.fullname" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}
