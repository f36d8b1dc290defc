/** Repositories of a started server: created over the API, and checked on the disk. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Gatehouse, Person } from './gatehouse.js'
import { tryGit } from './git-client.js'

export interface RepositoryInput {
  readonly private?: boolean
  readonly auto_init?: boolean
  readonly default_branch?: string
  readonly object_format_name?: 'sha1' | 'sha256'
}

/** Creates a repository of a user or of an organization; returns `owner/name`. */
export async function makeRepository(
  person: Person,
  name: string,
  { organization, ...input }: RepositoryInput & { readonly organization?: string } = {},
): Promise<string> {
  const path = organization === undefined ? '/user/repos' : `/orgs/${organization}/repos`
  const { status, body } = await person.api('POST', path, { name, ...input })
  if (status !== 201)
    throw new Error(`the repository was not created: ${status} ${JSON.stringify(body)}`)
  return `${organization ?? person.name}/${name}`
}

/** Changes a repository over the API. Throws if the change is refused. */
export async function changeRepository(
  person: Person,
  repository: string,
  patch: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { status, body } = await person.api('PATCH', `/repos/${repository}`, patch)
  if (status !== 200)
    throw new Error(`the repository was not changed: ${status} ${JSON.stringify(body)}`)
}

/** Returns the paths of all repositories and wikis. */
export async function repositoriesIn(dataDir: string): Promise<readonly string[]> {
  const top = join(dataDir, 'repositories')
  const stores = await readdir(top)
  const names = await Promise.all(stores.map((store) => readdir(join(top, store))))
  return names
    .flatMap((found, index) => found.map((name) => join(top, stores[index] ?? '', name)))
    .filter((path) => /\/[0-9a-f]{32}(?:\.wiki)?\.git$/.test(path))
}

/** Returns the faults that `git fsck` finds in a server's repositories, and unexpected files. */
export async function faultsOnDisk(gatehouse: Gatehouse): Promise<readonly string[]> {
  const faults: string[] = []
  for (const path of await repositoriesIn(gatehouse.dataDir)) {
    const { exitCode, output, errorText } = await tryGit(
      ['-c', 'safe.directory=*', 'fsck', '--full', '--strict', '--no-dangling', '--no-progress'],
      { cwd: path },
    )
    if (exitCode !== 0) faults.push(`${path}: ${output}${errorText}`)
    const objects = await readdir(join(path, 'objects'))
    faults.push(...objects.filter((name) => !/^(?:pack|info|[0-9a-f]{2})$/.test(name)))
  }
  return faults
}
