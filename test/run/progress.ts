/** Progress of a test run on standard error, and the slowest files at its end. */

import { existsSync, readFileSync } from 'node:fs'
import type { FileResult } from './file-result.js'

const SLOWEST_FILES = 10
/** Time between two lines if standard error is not a terminal. */
const LOG_EVERY_MS = 30_000
/** Time between two updates of the line on a terminal. */
const DRAW_EVERY_MS = 1_000

export interface Progress {
  /** Stops the updates, prints the slowest files and returns the totals of all files. */
  end(): string
}

/** Shows the results that the test processes append to a file, out of `total` test files. */
export function showProgress(progressFile: string, total: number): Progress {
  const startedAtMs = Date.now()
  const isTerminal = process.stderr.isTTY === true
  let shown = 0
  const draw = () => {
    const results = readResults(progressFile)
    for (const { file, failed } of results.slice(shown).filter(({ ok }) => !ok)) {
      write(`${isTerminal ? '\r\u001b[K' : ''}failed: ${file} (${failed} of its tests)\n`)
    }
    shown = results.length
    const line = summarize(results, total, Date.now() - startedAtMs)
    write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
  }
  const timer = setInterval(draw, isTerminal ? DRAW_EVERY_MS : LOG_EVERY_MS)
  return {
    end() {
      clearInterval(timer)
      draw()
      const results = readResults(progressFile)
      write(`${isTerminal ? '\n' : ''}${describeSlowest(results)}`)
      return describeTotals(results)
    },
  }
}

function describeTotals(results: readonly FileResult[]): string {
  const [passed, failed] = [sumOf(results, 'passed'), sumOf(results, 'failed')]
  return `${passed} passed, ${failed} failed, ${sumOf(results, 'skipped')} skipped`
}

function summarize(results: readonly FileResult[], total: number, tookMs: number): string {
  const [passed, failed] = [sumOf(results, 'passed'), sumOf(results, 'failed')]
  const seconds = Math.round(tookMs / 1_000)
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return `${time}  ${results.length} of ${total} files, ${passed} passed, ${failed} failed`
}

function describeSlowest(results: readonly FileResult[]): string {
  const slowest = results.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_FILES)
  const lines = slowest.map(
    ({ file, durationMs, cpuMs }) =>
      `  ${seconds(durationMs)} s, ${seconds(cpuMs)} s of CPU  ${file.replace(/^dist\//, '')}\n`,
  )
  return `The files took ${Math.round(sumOf(results, 'cpuMs') / 1_000)} s of CPU. The slowest:\n${lines.join('')}`
}

function sumOf(
  results: readonly FileResult[],
  field: 'passed' | 'failed' | 'skipped' | 'cpuMs',
): number {
  return results.reduce((sum, result) => sum + result[field], 0)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).padStart(5)
}

function readResults(progressFile: string): readonly FileResult[] {
  if (!existsSync(progressFile)) return []
  const lines = readFileSync(progressFile, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as FileResult)
}

function write(text: string): void {
  process.stderr.write(text)
}
