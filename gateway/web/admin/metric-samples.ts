/** Samples of metrics in the Prometheus text format 0.0.4. */

export interface MetricSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="([^"\\]*)"/g

/** Parses our own metrics, whose label values contain no escapes. */
export function readMetrics(text: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', word = '']) => [label, word])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}
