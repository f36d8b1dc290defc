/** Short messages about events for chat services, made of the payloads of webhooks. */

import type { HookEvent } from '../../conf/hook-events.js'

/** Text, or a link with its text. */
export type Part = string | { readonly text: string; readonly url: string }

/** Message about an event, which each service formats in its way. */
export interface EventMessage {
  /** Line that leaves out the sender, such as `[ada/r] Issue opened: #1 Title`. */
  readonly title: readonly Part[]
  /** Text below the title, for example that of an issue; empty for none. */
  readonly body: readonly Part[]
  /** URL of the subject. */
  readonly url: string
  /** RGB color in six hexadecimal digits. */
  readonly color: string
  readonly sender: Sender
  readonly repository: Place | undefined
}

interface Sender {
  readonly login: string
  readonly full_name?: string
  readonly avatar_url?: string
  readonly html_url?: string
}

interface Place {
  readonly full_name: string
  readonly html_url: string
}

interface Subject {
  readonly number: number
  readonly title: string
  readonly body?: string
  readonly html_url: string
  readonly merged?: boolean
}

interface Commit {
  readonly id: string
  readonly message: string
  readonly url: string
  readonly author?: { readonly name: string } | null
}

/** Fields of payloads that messages have; which of them exist depends on the event. */
export interface EventPayload {
  readonly action?: string
  readonly sender: Sender
  readonly repository?: Place | null
  readonly forkee?: Place
  readonly ref?: string
  readonly ref_type?: string
  readonly compare_url?: string
  readonly total_commits?: number
  readonly commits?: readonly Commit[]
  readonly issue?: Subject
  readonly pull_request?: Subject
  readonly comment?: { readonly body: string; readonly html_url: string }
  readonly review?: { readonly content: string } | null
  readonly release?: {
    readonly tag_name: string
    readonly body: string
    readonly html_url: string
  }
  readonly package?: { readonly name: string; readonly version: string; readonly html_url?: string }
  readonly state?: string
  readonly context?: string
  readonly description?: string
  readonly target_url?: string
  readonly sha?: string
  readonly workflow_run?: RunFields
  readonly workflow_job?: RunFields & { readonly name: string }
}

interface RunFields {
  readonly display_title?: string
  readonly status: string
  readonly conclusion?: string | null
  readonly html_url: string
}

const GREEN = '1ac600'
const YELLOW = 'ffd930'
const RED = 'ff3232'
const GREY = '4f545c'
const ORANGE = 'eb6420'
const PURPLE = '7289da'

/** Maximum length of a text of a user in a message. */
const BODY_CHARACTERS_MAX = 1_500
const LINE_CHARACTERS_MAX = 200

/** Returns the message about an event. */
export function eventMessage(event: HookEvent, payload: EventPayload): EventMessage {
  const { sender, repository = undefined } = payload
  const place = repository ?? undefined
  const about = aboutOf(event, payload, place)
  const title = about.title.map((part) => withText(part, oneLine))
  const head: readonly Part[] = place === undefined ? [] : ['[', linkTo(place), '] ']
  return {
    title: about.isComplete === true ? title : [...head, ...title],
    body: about.body ?? [],
    url: about.url || (place?.html_url ?? ''),
    color: about.color,
    sender,
    repository: place,
  }
}

interface About {
  readonly title: readonly Part[]
  readonly body?: readonly Part[]
  readonly url?: string | undefined
  readonly color: string
  /** True if the title names the repository already. */
  readonly isComplete?: boolean
}

function aboutOf(event: HookEvent, payload: EventPayload, place: Place | undefined): About {
  const { pull_request: pull, issue } = payload
  if (event === 'push') return aboutPush(payload, place)
  if (event === 'create' || event === 'delete') return aboutRef(event, payload, place)
  if (event === 'fork') return aboutFork(payload)
  if (event === 'release') return aboutRelease(payload)
  if (event === 'package') return aboutPackage(payload)
  if (event === 'status') return aboutStatus(payload)
  if (event === 'repository') return aboutRepository(payload)
  if (event === 'workflow_run' || event === 'workflow_job') return aboutRun(event, payload)
  if (event === 'issue_comment' || event === 'pull_request_comment') return aboutComment(payload)
  if (pull !== undefined) return aboutPull(event, payload, pull)
  if (issue !== undefined) return aboutIssue(payload, issue)
  return { title: [`${event} ${payload.action ?? ''}`], color: GREY }
}

function aboutPush(payload: EventPayload, place: Place | undefined): About {
  const { ref = '', commits = [], total_commits: total = commits.length } = payload
  const count = total === 1 ? '1 new commit' : `${total} new commits`
  const url = payload.compare_url || (commits[0]?.url ?? place?.html_url ?? '')
  const branch = ref.replace(/^refs\/(?:heads|tags)\//, '')
  const lines = commits.flatMap((commit, index): readonly Part[] => {
    const { id, message, author } = commit
    const text = ` ${oneLine(message)}${author ? ` - ${oneLine(author.name)}` : ''}`
    return [...(index > 0 ? ['\n'] : []), { text: id.slice(0, 7), url: commit.url }, text]
  })
  return { title: [{ text: count, url }, ` to ${branch}`], body: lines, url, color: GREEN }
}

function aboutRef(event: 'create' | 'delete', payload: EventPayload, place: Place | undefined) {
  const { ref = '', ref_type: type = '' } = payload
  const verb = event === 'create' ? 'created' : 'deleted'
  const url = place === undefined ? '' : `${place.html_url}/src/${type}/${encodeURI(ref)}`
  const color = event === 'create' ? GREEN : RED
  return { title: [`${type} ${ref} ${verb}`], url: event === 'create' ? url : undefined, color }
}

function aboutFork({ forkee, repository }: EventPayload): About {
  const from: readonly Part[] = forkee === undefined ? ['The repository'] : [linkTo(forkee)]
  const to: readonly Part[] = repository ? [' to ', linkTo(repository)] : []
  return { title: [...from, ' is forked', ...to], color: GREEN, isComplete: true }
}

function aboutRelease({ action, release }: EventPayload): About {
  const verb = action === 'published' ? 'created' : (action ?? '')
  const color = { published: GREEN, updated: YELLOW }[action ?? ''] ?? RED
  if (release === undefined) return { title: [`Release ${verb}`], color }
  const { tag_name: text, html_url: url, body } = release
  return { title: [`Release ${verb}: `, { text, url }], body: [shortened(body)], url, color }
}

function aboutPackage({ action, package: subject }: EventPayload): About {
  const text = subject === undefined ? '' : `${subject.name}:${subject.version}`
  const url = subject?.html_url ?? ''
  const verb = action === 'deleted' ? 'deleted' : 'created'
  const color = action === 'deleted' ? RED : GREEN
  return { title: [`Package ${verb}: `, url === '' ? text : { text, url }], url, color }
}

function aboutStatus({ state = '', context = '', sha = '', ...payload }: EventPayload): About {
  const color = { success: GREEN, pending: YELLOW, warning: YELLOW }[state] ?? RED
  const url = payload.target_url
  const title = [`Commit status changed: ${sha.slice(0, 7)} - ${context} is ${state}`]
  return { title, body: [shortened(payload.description ?? '')], url, color }
}

function aboutRepository({ action = '' }: EventPayload): About {
  return { title: [`Repository ${action}`], color: action === 'deleted' ? RED : GREEN }
}

function aboutRun(event: HookEvent, payload: EventPayload): About {
  const { workflow_run: run, workflow_job: job } = payload
  const subject = run ?? job
  if (subject === undefined) return { title: [event], color: GREY }
  const { html_url: url, status, conclusion } = subject
  const kind = run === undefined ? 'Workflow job' : 'Workflow run'
  const text = run?.display_title ?? job?.name ?? ''
  const state = conclusion || status
  const color = { success: GREEN, failure: RED, cancelled: RED }[state] ?? YELLOW
  return { title: [`${kind} ${state}: `, { text, url }], url, color }
}

function aboutComment({ action, comment, issue, pull_request: pull }: EventPayload): About {
  const subject = pull ?? issue
  const kind = pull === undefined ? 'issue' : 'pull request'
  const verb = action === 'created' ? 'New comment' : `Comment ${action}`
  const color = { created: pull === undefined ? ORANGE : GREEN, deleted: RED }[action ?? '']
  const named = subject === undefined ? [] : [numbered(subject)]
  return {
    title: [`${verb} on ${kind} `, ...named],
    body: [shortened(comment?.body ?? '')],
    url: comment?.html_url,
    color: color ?? YELLOW,
  }
}

const ACTION_WORDS: Readonly<Record<string, string>> = {
  reopened: 're-opened',
  label_updated: 'labels updated',
  label_cleared: 'labels cleared',
  demilestoned: 'milestone cleared',
  review_requested: 'review requested',
  review_request_removed: 'review request removed',
}

const REVIEW_WORDS: Readonly<Partial<Record<HookEvent, readonly [word: string, color: string]>>> = {
  pull_request_review_approved: ['approved', GREEN],
  pull_request_review_rejected: ['rejected', RED],
  pull_request_review_comment: ['comment', GREY],
}

function aboutPull(event: HookEvent, payload: EventPayload, pull: Subject): About {
  const { action = '', review } = payload
  const { html_url: url } = pull
  const [word, reviewColor] = REVIEW_WORDS[event] ?? []
  if (word !== undefined && reviewColor !== undefined) {
    const title = [`Pull request review ${word}: `, numbered(pull)]
    return { title, body: [shortened(review?.content ?? '')], url, color: reviewColor }
  }
  const isMerged = action === 'closed' && pull.merged === true
  const verb = isMerged ? 'merged' : (ACTION_WORDS[action] ?? action)
  const color = isMerged ? PURPLE : ({ opened: GREEN, closed: RED }[action] ?? YELLOW)
  return {
    title: [`Pull request ${verb}: `, numbered(pull)],
    body: textOf(action, pull),
    url,
    color,
  }
}

function aboutIssue({ action = '' }: EventPayload, issue: Subject): About {
  const color = { opened: ORANGE, closed: RED, assigned: GREEN }[action] ?? YELLOW
  const title = [`Issue ${ACTION_WORDS[action] ?? action}: `, numbered(issue)]
  return { title, body: textOf(action, issue), url: issue.html_url, color }
}

/** Returns the text of an issue or pull request that was opened or edited. */
function textOf(action: string, { body = '' }: Subject): readonly Part[] {
  return action === 'opened' || action === 'edited' ? [shortened(body)] : []
}

function numbered({ number, title, html_url: url }: Subject): Part {
  return { text: `#${number} ${title}`, url }
}

function linkTo({ full_name: text, html_url: url }: Place): Part {
  return { text, url }
}

function withText(part: Part, change: (text: string) => string): Part {
  return typeof part === 'string' ? part : { ...part, text: change(part.text) }
}

/** Returns the first line of a text, shortened. */
function oneLine(text: string): string {
  const [line = ''] = text.trim().split(/[\r\n]/)
  return line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX)}…` : line
}

function shortened(text: string): string {
  return text.length > BODY_CHARACTERS_MAX ? `${text.slice(0, BODY_CHARACTERS_MAX)}…` : text
}
