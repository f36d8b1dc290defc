/** Answers to fetches that git itself makes. */

import { fstatSync } from 'node:fs'
import { firstLine, type Git } from '../../cgi/process/git.js'
import type { ProcessEnd } from '../../cgi/process/run.js'
import { spoolUploadPack, UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { saysDiskIsFull } from '../../conf/disk-failure.js'
import type { WriteOptions } from './answer-names.js'
import type { FetchQuestion } from './extended-answers.js'
import { writeFetch } from './normal-fetch.js'

/**
 * Writes git's answer into a file. Returns false if it is a refusal. Throws UploadPackError if git
 * rejects the request, and an error of the file system if the disk is full.
 */
export async function writeByGit(
  git: Git,
  { repositoryPath, wanted }: FetchQuestion,
  { file, signal, timeoutMs, onStarted }: WriteOptions,
): Promise<boolean> {
  const running = spoolUploadPack(git, {
    repositoryPath,
    gitProtocol: wanted.request.version === 2 ? 'version=2' : undefined,
    signal,
    request: writeFetch(wanted.request),
    outputFile: file,
    timeoutMs,
  })
  if (running.pid !== undefined) onStarted(running.pid)
  const end = await running.ended
  throwIfBroken(end, fstatSync(file).size)
  return end.exitCode === 0
}

/** Maximum length of git's error packet; a longer answer of a failed git is a truncated pack. */
const REFUSAL_BYTES_MAX = 4_096

function throwIfBroken(end: ProcessEnd, bytes: number): void {
  if (end.exitCode === 0) return
  const complaint = firstLine(end.errorText)
  const isFull = saysDiskIsFull(end.errorText) || /File too large/.test(end.errorText)
  if (isFull || end.signal === 'SIGXFSZ') {
    throw Object.assign(new Error(complaint), { code: 'ENOSPC' })
  }
  if (end.exitCode !== undefined && bytes === 0) throw new UploadPackError(complaint)
  if (end.exitCode === undefined || bytes > REFUSAL_BYTES_MAX) {
    throw new Error(`git upload-pack did not finish: ${complaint}`)
  }
}
