/** The Tag and the AnnotatedTag of this API. */

import { type Static, Type } from 'typebox'
import type { GitObject } from '../../../cgi/objects/cat-file.js'
import {
  parseCommit,
  parseTag,
  type Signature,
  type Tag,
} from '../../../cgi/objects/commit-object.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { signedTag, verifySignatures } from '../../actions/code/verify-signatures.js'
import type { Context } from '../../request/context.js'
import { ZERO_TIME } from '../times.js'
import {
  addressesOf,
  type CommitView,
  commitMeta,
  commitUser,
  signatureTime,
  verificationObject,
  visibleUsers,
} from './commit-json.js'
import { COMMIT_META, COMMIT_USER, VERIFICATION } from './commit-schema.js'
import { escapePath } from './contents-object.js'

export const TAG = Type.Object(
  {
    name: Type.String(),
    message: Type.String(),
    id: Type.String(),
    commit: COMMIT_META,
    zipball_url: Type.String(),
    tarball_url: Type.String(),
  },
  { $id: 'Tag' },
)

const ANNOTATED_TAG_OBJECT = Type.Object(
  { type: Type.String(), url: Type.String(), sha: Type.String() },
  { $id: 'AnnotatedTagObject' },
)

export const ANNOTATED_TAG = Type.Object(
  {
    tag: Type.String(),
    sha: Type.String(),
    url: Type.String(),
    message: Type.String(),
    tagger: COMMIT_USER,
    object: ANNOTATED_TAG_OBJECT,
    verification: VERIFICATION,
  },
  { $id: 'AnnotatedTag' },
)

/**
 * Returns a tag by its short name. `object` is the object that the ref names: a tag object or, for
 * a lightweight tag, its target.
 */
export function tagObject(
  context: Context,
  repository: Repository,
  { name, object }: { readonly name: string; readonly object: GitObject },
): Static<typeof TAG> {
  const { api, html } = addressesOf(context, repository)
  const { target, by, message } = readTagged(object)
  const archive = `${html}/archive/${escapePath(name)}`
  return {
    name,
    message: message.trim(),
    id: object.id,
    commit: commitMeta(api, target, by === undefined ? ZERO_TIME : signatureTime(by)),
    zipball_url: `${archive}.zip`,
    tarball_url: `${archive}.tar.gz`,
  }
}

/** Returns target, author and message of a tag. A lightweight tag has those of its commit. */
function readTagged({ id, type, content = Buffer.alloc(0) }: GitObject): {
  readonly target: string
  readonly by: Signature | undefined
  readonly message: string
} {
  if (type === 'tag') {
    const { object, tagger, message } = parseTag(id, content)
    return { target: object, by: tagger, message: withoutSignature(message) }
  }
  if (type !== 'commit') return { target: id, by: undefined, message: '' }
  const { committer, message } = parseCommit(id, content)
  return { target: id, by: committer, message }
}

const NO_TAGGER: Signature = { name: '', email: '', atMs: 0, offsetMinutes: 0 }

/** Returns the AnnotatedTag of a tag object. */
export async function annotatedTagObject(
  context: Context,
  { repository, user }: CommitView,
  tag: Tag,
): Promise<Static<typeof ANNOTATED_TAG>> {
  const { api } = addressesOf(context, repository)
  const signed = signedTag(tag)
  const users = await visibleUsers(context, user, [signed.email])
  const [verification] = await verifySignatures(context, [signed], users)
  const segment = { commit: 'commits', tree: 'trees', blob: 'blobs', tag: 'tags' }[tag.type]
  return {
    tag: tag.name,
    sha: tag.id,
    url: `${api}/git/tags/${tag.id}`,
    message: withoutSignature(tag.message),
    tagger: commitUser(tag.tagger ?? NO_TAGGER),
    object: { sha: tag.object, type: tag.type, url: `${api}/git/${segment}/${tag.object}` },
    verification: verificationObject(signed, verification),
  }
}

/** Returns a tag's message without the signature that follows it (gitformat-signature(5)). */
function withoutSignature(message: string): string {
  const at = message.search(/^-----BEGIN (?:PGP|SSH|SIGNED)/m)
  return at < 0 ? message : message.slice(0, at)
}
