/** The tasks of the gateway's pools; the first task that needs a module loads it. */

import { Failure } from '../../conf/failures.js'
import { openByteFile } from '../../registry/byte-file.js'
import { INSPECTIONS } from '../../registry/inspections.js'
import type {
  OpenpgpKey,
  OpenpgpVerdict,
  VerifyOpenpgpInput,
} from '../../registry/sign/openpgp-keys.js'
import type { PatternInput } from '../../registry/version-patterns.js'
import type { ReadIssueConfig, ReadTemplates, TemplateFile } from '../known-files/issue-files.js'
import type { MarkdownPlace } from '../rendering/markdown.js'
import type { TrustedHtml } from '../rendering/trusted-html.js'
import type { CalledInput, CalledPlan } from '../workflows/plan-called.js'
import type { DeferredInput, DeferredPlan } from '../workflows/plan-deferred.js'
import type { FileInput, FilePlan } from '../workflows/plan-file.js'
import type { Tasks } from './pool.js'

export const TASKS = {
  highlight: highlightFile,
  markdown: drawMarkdown,
  inspect: inspectFile,
  matchPatterns: matchTexts,
  plan: planWorkflow,
  planDeferred: planDeferredJob,
  planCalled: planCalledFile,
  shrink: shrinkImage,
  detectLicenses: detectLicensesOf,
  issueConfig: configOfIssues,
  issueTemplates: templatesOfIssues,
  readOpenpgpKey: readKey,
  verifyOpenpgp: verifySignatures,
} as const satisfies Tasks

export type GatewayTasks = typeof TASKS

export interface HighlightInput {
  readonly text: string
  /** Name of the file, from which its language is detected. */
  readonly name: string
}

/** Returns the highlighted lines as table rows. Throws `payload_too_large`. */
async function highlightFile({ text, name }: HighlightInput): Promise<TrustedHtml> {
  const { highlightedRows } = await import('../rendering/highlight.js')
  return notTooLong(highlightedRows(text, name))
}

export interface MarkdownInput {
  readonly text: string
  readonly from: MarkdownPlace
}

/** Returns the rendered Markdown. Throws `payload_too_large`. */
async function drawMarkdown({ text, from }: MarkdownInput): Promise<TrustedHtml> {
  const { renderMarkdown } = await import('../rendering/markdown.js')
  return notTooLong(renderMarkdown(text, from))
}

/** Maximum length of a rendered text, which is sent with every request of its page. */
const DRAWN_CHARACTERS_MAX = 4_194_304

function notTooLong(html: TrustedHtml): TrustedHtml {
  if (html.length <= DRAWN_CHARACTERS_MAX) return html
  throw new Failure(
    'payload_too_large',
    `The rendered text is longer than ${DRAWN_CHARACTERS_MAX} characters.`,
  )
}

export interface InspectInput {
  readonly format: keyof typeof INSPECTIONS
  readonly path: string
}

/** Returns the inspection of a package. Throws `bad_request` if it is not of that format. */
async function inspectFile({ format, path }: InspectInput): Promise<unknown> {
  const file = openByteFile(path)
  try {
    return await INSPECTIONS[format](file)
  } finally {
    file.close()
  }
}

/** Returns the first pattern of each text. Throws `invalid` for a malformed pattern. */
async function matchTexts(input: PatternInput): Promise<readonly number[]> {
  const { matchPatterns } = await import('../../registry/version-patterns.js')
  return matchPatterns(input)
}

/** Returns an image in the size of avatars. Throws `invalid` for data that is not an image. */
async function shrinkImage({ data }: { readonly data: Uint8Array }): Promise<Uint8Array> {
  const { shrinkPicture } = await import('../rendering/picture.js')
  return await shrinkPicture(data)
}

/** Returns the SPDX identifiers of the license that a text is. */
async function detectLicensesOf({ text }: { readonly text: string }): Promise<readonly string[]> {
  const { detectLicenses } = await import('../known-files/detect-license.js')
  return await detectLicenses(text)
}

/** Returns the configuration of new issues, or the fault of its file. */
async function configOfIssues({ text }: { readonly text: string }): Promise<ReadIssueConfig> {
  const { readIssueConfig } = await import('../known-files/issue-files.js')
  return readIssueConfig(text)
}

export interface TemplatesInput {
  readonly files: readonly TemplateFile[]
}

/** Returns the templates of new issues. */
async function templatesOfIssues({ files }: TemplatesInput): Promise<ReadTemplates> {
  const { readIssueTemplates } = await import('../known-files/issue-files.js')
  return readIssueTemplates(files)
}

/** Returns the plan of a workflow file. */
async function planWorkflow(input: FileInput): Promise<FilePlan> {
  const { planFile } = await import('../workflows/plan-file.js')
  return planFile(input)
}

/** Returns the plan of a deferred job. */
async function planDeferredJob(input: DeferredInput): Promise<DeferredPlan> {
  const { planDeferred } = await import('../workflows/plan-deferred.js')
  return planDeferred(input)
}

/** Returns the plan of a called workflow. */
async function planCalledFile(input: CalledInput): Promise<CalledPlan> {
  const { planCalled } = await import('../workflows/plan-called.js')
  return planCalled(input)
}

/** Returns the facts of an OpenPGP key. Throws `invalid`. */
async function readKey({ armored }: { readonly armored: string }): Promise<OpenpgpKey> {
  const { readOpenpgpKey } = await import('../../registry/sign/openpgp-keys.js')
  return await readOpenpgpKey(armored)
}

/** Returns the verdicts of OpenPGP signatures. */
async function verifySignatures(input: VerifyOpenpgpInput): Promise<readonly OpenpgpVerdict[]> {
  const { verifyOpenpgp } = await import('../../registry/sign/openpgp-keys.js')
  return await verifyOpenpgp(input)
}
