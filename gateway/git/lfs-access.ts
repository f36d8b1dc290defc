/** Access of the routes of Git LFS: that of a fetch or of a push. */

import { authorize, type Grants } from '../auth/authorize.js'
import type { RepositoryNeed } from '../auth/authorize-repository.js'
import type { Context } from '../request/context.js'
import { refuseArchived } from './archived.js'

/** Access to download objects and to list locks. */
export const LFS_READ = {
  access: { kind: 'repository', mode: 'read', isDownload: true },
  scopes: ['read:repository'],
} as const

/** Access to upload objects and to lock files. */
export const LFS_WRITE = {
  access: { kind: 'repository', mode: 'write', changesGit: true },
  scopes: ['write:repository'],
} as const

/** Path of a route below the address of Git LFS. */
export function lfsPath<P extends string>(path: P): `/{owner}/{repo}/info/lfs/${P}` {
  return `/{owner}/{repo}/info/lfs/${path}`
}

/** Authorizes the caller of a route for reading to write, because the message asks for it. */
export async function authorizeMore(
  { db }: Pick<Context, 'db'>,
  { who, repository }: Pick<Grants['repository'], 'who' | 'repository'>,
  mode: Extract<RepositoryNeed['mode'], 'write' | 'admin'>,
): Promise<void> {
  await authorize(db, {
    who,
    access: { ...LFS_WRITE.access, mode },
    scopes: LFS_WRITE.scopes,
    params: { owner: repository.owner.name, repo: repository.name },
    challenges: true,
    anonymousBytesMax: undefined,
  })
  refuseArchived({ repository })
}
