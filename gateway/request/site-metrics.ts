/** Prometheus metrics of the whole site, which all workers and gateways share. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../conf/log.js'
import { readSiteTotals, type SiteTotals } from '../../sql/admin/site-totals.js'
import type { Database } from '../../sql/database/database.js'
import { renderGauges } from './metrics.js'

/** Time for which the numbers are kept, because a short interval of scrapes must cost little. */
const KEPT_MS = 60_000

/** Limit of the wait for the database, which is shorter than Prometheus waits for a scrape. */
const WAIT_MS_MAX = 5_000

const GAUGES: Readonly<
  Record<string, readonly [help: string, value: (site: SiteTotals) => number]>
> = {
  gatehouse_repositories: ['Repositories, without wikis.', (site) => site.repositories],
  gatehouse_repository_bytes: [
    'Bytes of all repositories and wikis, as measured at their last maintenance.',
    (site) => site.repositoryBytes,
  ],
  gatehouse_blob_bytes: [
    'Bytes of all stored files of packages, releases, LFS and artifacts.',
    (site) => site.blobBytes,
  ],
  gatehouse_database_bytes: ['Bytes of the database.', (site) => site.databaseBytes],
  gatehouse_jobs_waiting: ['Background jobs that are due.', ({ jobs }) => jobs.waiting],
  gatehouse_jobs_running: ['Background jobs that run.', ({ jobs }) => jobs.running],
  gatehouse_jobs_failed: [
    'Background jobs that wait for another attempt after a failure.',
    ({ jobs }) => jobs.failed,
  ],
  gatehouse_jobs_oldest_seconds: [
    'Time for which the first of the due background jobs has waited.',
    ({ jobs }) => jobs.oldestMs / 1_000,
  ],
  gatehouse_workflow_jobs_waiting: [
    'Jobs of workflows that wait for a runner.',
    ({ workflowJobs }) => workflowJobs.waiting,
  ],
  gatehouse_workflow_jobs_running: [
    'Jobs of workflows that runners have.',
    ({ workflowJobs }) => workflowJobs.running,
  ],
  gatehouse_workflow_jobs_oldest_seconds: [
    'Time for which the first of the waiting jobs of workflows has waited.',
    ({ workflowJobs }) => workflowJobs.oldestMs / 1_000,
  ],
  gatehouse_backup_last_success_timestamp_seconds: [
    'Time at which the last complete backup began; 0 if there is none.',
    ({ backups }) => (backups.lastComplete?.startedAtMs ?? 0) / 1_000,
  ],
  gatehouse_backup_failed: [
    '1 if the last backup failed or lacks data, else 0.',
    ({ backups }) => ((backups.last?.outcome ?? 'complete') === 'complete' ? 0 : 1),
  ],
}

/**
 * Returns a function that renders the metrics. It reads the database at most once in 60 seconds. If
 * the database does not answer, the text has only `gatehouse_database_up 0`.
 */
export function createSiteMetrics(db: Database, log: Log): () => Promise<string> {
  let kept: { readonly totals: SiteTotals; readonly readAtMs: number } | undefined
  let reading: Promise<SiteTotals | undefined> | undefined
  const read = async () => {
    try {
      const totals = await readSiteTotals(db)
      kept = { totals, readAtMs: Date.now() }
      return totals
    } catch (error) {
      log.warn({ error }, 'the metrics of the site could not be read')
      return undefined
    } finally {
      reading = undefined
    }
  }
  return async () => {
    if (kept !== undefined && Date.now() - kept.readAtMs < KEPT_MS) return render(kept.totals)
    reading ??= read()
    const timer = new AbortController()
    const timeout = sleep(WAIT_MS_MAX, undefined, { signal: timer.signal }).catch(() => undefined)
    const totals = await Promise.race([reading, timeout])
    timer.abort()
    return render(totals)
  }
}

async function render(totals: SiteTotals | undefined): Promise<string> {
  const up = {
    name: 'gatehouse_database_up',
    help: '1 if the database answers, else 0.',
    value: totals === undefined ? 0 : 1,
  }
  if (totals === undefined) return renderGauges([up])
  const others = Object.entries(GAUGES).map(([name, [help, read]]) => ({
    name,
    help,
    value: read(totals),
  }))
  return renderGauges([up, ...others])
}
