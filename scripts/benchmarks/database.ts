/** `database`: warm requests with MariaDB as the database, compared with SQLite. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, type Side } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { requestRepeatedly } from './load.js'
import { startMariadb } from './mariadb.js'
import { type RecordedRequest, recordClone } from './recorder.js'
import { PROJECT_FOLDER } from './repositories.js'
import type { MeasuredServer } from './server.js'
import type { Table } from './table.js'

const CONNECTIONS = [1, 16]

export const DATABASE_BENCHMARK: Benchmark = {
  name: 'database',
  about: 'warm requests and API reads with MariaDB, compared with SQLite',
  async *run(context) {
    const started: Array<{ stop(): Promise<void> }> = []
    try {
      const mariadb = await startMariadb(context)
      started.push(mariadb)
      const withMariadb = await startSide(context, 'with-mariadb', mariadb.url)
      started.push(withMariadb.gatehouse)
      const withSqlite = await startSide(context, 'with-sqlite')
      started.push(withSqlite.gatehouse)
      for (const connections of CONNECTIONS) {
        yield await measure({ ...context, mariadb, sides: [withMariadb, withSqlite], connections })
      }
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

/** A gateway with one repository, and requests of a clone of it. */
interface DatabaseSide {
  readonly gatehouse: Gatehouse
  readonly requests: readonly NamedRequest[]
}

interface NamedRequest {
  readonly label: string
  readonly url: string
  readonly headers: readonly string[]
  readonly bodyFile?: string
}

async function startSide(
  { folder, signal }: BenchmarkContext,
  name: string,
  databaseUrl?: string,
): Promise<DatabaseSide> {
  const context = { folder: join(folder, name), signal }
  await mkdir(context.folder)
  const environment = databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl }
  const gatehouse = await startGatehouse(context, { environment })
  await gatehouse.addRepository('project', PROJECT_FOLDER)
  const url = `${gatehouse.url}/${OWNER}/project.git`
  const recorded = await recordClone(url, { args: ['--depth=1'], ...context })
  const authorization = [`Authorization: token ${gatehouse.token}`]
  const gitRequest = async (label: string, { suffix, headers, body }: RecordedRequest) => {
    const request = { label, url: `${url}/${suffix}`, headers: [...headers, ...authorization] }
    if (body === undefined) return request
    const bodyFile = join(context.folder, label.replaceAll(/\W/g, '-'))
    await writeFile(bodyFile, body)
    return { ...request, bodyFile }
  }
  const api = `${gatehouse.url}/api/v1`
  return {
    gatehouse,
    requests: [
      await gitRequest('info/refs', recorded.references),
      await gitRequest('ls-refs', recorded.listing),
      await gitRequest('fetch, depth 1', recorded.fetch),
      {
        label: 'GET /repos/{owner}/{repo}',
        url: `${api}/repos/${OWNER}/project`,
        headers: authorization,
      },
      { label: 'GET /user', url: `${api}/user`, headers: authorization },
    ],
  }
}

interface Setup extends BenchmarkContext {
  readonly mariadb: MeasuredServer
  readonly sides: readonly [withMariadb: DatabaseSide, withSqlite: DatabaseSide]
  readonly connections: number
}

async function measure({ mariadb, sides, connections, signal }: Setup): Promise<Table> {
  const [withMariadb, withSqlite] = sides
  const work = (request: NamedRequest) => () =>
    requestRepeatedly(request.url, { ...request, threads: 1, connections, signal })
  const rows: Array<readonly [string, Comparison]> = []
  for (const [at, request] of withMariadb.requests.entries()) {
    const other = withSqlite.requests[at] ?? request
    const own: Side = {
      work: work(request),
      cpuMs: async () => sum(await withMariadb.gatehouse.cpu.cpuMs(), await mariadb.cpu.cpuMs()),
    }
    const peer = { work: work(other), cpuMs: () => withSqlite.gatehouse.cpu.cpuMs() }
    rows.push([request.label, await compare(own, peer)])
  }
  return {
    title: `Requests with a token, ${connections} connections; CPU with that of MariaDB`,
    peers: ['SQLite'],
    unit: 'requests',
    rows,
  }
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}
