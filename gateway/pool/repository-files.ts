/** Reading of files of repositories in a pool: their authors choose the cost. */

import { Failure } from '../../conf/failures.js'
import type { ReadIssueConfig, ReadTemplates, TemplateFile } from '../known-files/issue-files.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/**
 * Readers of files of an owner. They reject with `invalid` if a file takes more than the pool
 * permits, and with `unavailable` if too many tasks wait.
 */
export interface FileReaders {
  /** Returns the SPDX identifiers of the license that a text is. */
  detectLicenses(text: string, ownerId: number): Promise<readonly string[]>
  readIssueConfig(text: string, ownerId: number): Promise<ReadIssueConfig>
  readIssueTemplates(files: readonly TemplateFile[], ownerId: number): Promise<ReadTemplates>
}

/** Time limit of one file. The first license needs the texts of all, which takes some 300 ms. */
const DEADLINE_MS = 5_000

const RETRY_AFTER_SECONDS = 10

/** Returns the functions that read files in the pool. */
export function readFilesIn(pool: Pick<Pool<GatewayTasks>, 'run'>): FileReaders {
  const limits = (ownerId: number) => ({ deadlineMs: DEADLINE_MS, ownerId })
  return {
    detectLicenses: (text, ownerId) =>
      pool.run('detectLicenses', { text }, limits(ownerId)).catch(refuse),
    readIssueConfig: (text, ownerId) =>
      pool.run('issueConfig', { text }, limits(ownerId)).catch(refuse),
    readIssueTemplates: (files, ownerId) =>
      pool.run('issueTemplates', { files }, limits(ownerId)).catch(refuse),
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof TaskRefused)) throw error
  if (error.reason !== 'busy') {
    throw new Failure('invalid', 'Reading the file takes too much time or memory.')
  }
  const retryAfterSeconds = RETRY_AFTER_SECONDS
  throw new Failure('unavailable', 'Too many files are being read.', { retryAfterSeconds })
}
