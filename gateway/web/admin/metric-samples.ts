/** Samples of a text of metrics, as the Prometheus text format 0.0.4 has them. */

export interface MetricSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="([^"\\]*)"/g

/** The samples of our own metrics, none of whose labels has anything escaped. */
export function readMetrics(text: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', word = '']) => [label, word])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}
