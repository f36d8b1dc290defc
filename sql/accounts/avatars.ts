/** Uploaded pictures of accounts, organizations and repositories. */

import { type Database, transaction } from '../database/database.js'

/** The account, organization or repository that a picture is of. */
export type AvatarSubject = { readonly ownerId: number } | { readonly repositoryId: number }

export interface Avatar {
  /** 64 hexadecimal digits, by which clients request the picture. */
  readonly hash: string
  /** A PNG image. */
  readonly picture: Uint8Array
}

/** Replaces the picture of a subject. */
export async function setAvatar(
  db: Database,
  subject: AvatarSubject,
  { hash, picture }: Avatar,
): Promise<void> {
  await transaction(db, async (trx) => {
    const place = columnsOf(subject)
    await trx('avatars').where(place).delete()
    await trx('avatars').insert({ ...place, hash, picture: Buffer.from(picture) })
  })
}

/** Removes the picture of a subject. */
export async function removeAvatar(db: Database, subject: AvatarSubject): Promise<void> {
  await db('avatars').where(columnsOf(subject)).delete()
}

/** Returns the picture with that hash. */
export async function findAvatar(db: Database, hash: string): Promise<Uint8Array | undefined> {
  const row: { picture: Uint8Array } | undefined = await db('avatars')
    .where({ hash })
    .first('picture')
  return row?.picture
}

function columnsOf(subject: AvatarSubject) {
  return 'ownerId' in subject
    ? { owner_id: subject.ownerId }
    : { repository_id: subject.repositoryId }
}
