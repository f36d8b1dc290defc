/** Bodies of webhook deliveries in the format of each service. */

import type { HookEvent } from '../../conf/hook-events.js'
import type { HookService } from '../../conf/hook-services.js'
import { type EventMessage, type EventPayload, eventMessage, type Part } from './event-message.js'

/** Settings of a webhook for its service, such as `channel`; names as in the API. */
export type ServiceSettings = Readonly<Record<string, string>>

/**
 * Returns the body of a delivery; undefined if the service gets no delivery of the event. Packagist
 * gets pushes only, because it reads the repository again.
 */
export function servicePayload(
  service: HookService,
  settings: ServiceSettings,
  { event, payload }: { readonly event: HookEvent; readonly payload: EventPayload },
): object | undefined {
  if (service === 'packagist') {
    if (event !== 'push') return undefined
    const url = settings['package_url'] || (payload.repository?.html_url ?? '')
    return { repository: { url } }
  }
  return FORMATS[service](eventMessage(event, payload), settings)
}

type Format = (message: EventMessage, settings: ServiceSettings) => object

const FORMATS: Readonly<Record<Exclude<HookService, 'packagist'>, Format>> = {
  dingtalk,
  discord,
  feishu,
  matrix,
  msteams,
  slack,
  telegram,
  wechatwork,
}

/** Discord: Execute Webhook, with one embed. Names in texts mention no user. */
function discord({ title, body, url, color, sender }: EventMessage, settings: ServiceSettings) {
  return {
    username: settings['username'] ?? '',
    avatar_url: settings['icon_url'] ?? '',
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: plain(title).slice(0, 256),
        description: written(body, markdownLink),
        url,
        color: Number.parseInt(color, 16),
        author: {
          name: sender.login,
          url: sender.html_url ?? '',
          icon_url: sender.avatar_url ?? '',
        },
      },
    ],
  }
}

/** Slack: incoming webhooks, with one attachment for the text. */
function slack(message: EventMessage, settings: ServiceSettings) {
  const { title, body, url, color } = message
  const text = `${written(title, slackLink, slackText)} by ${slackText(message.sender.login)}`
  const below = written(body, slackLink, slackText)
  return {
    channel: settings['channel'] ?? '',
    username: settings['username'] ?? '',
    icon_url: settings['icon_url'] ?? '',
    unfurl_links: 0,
    link_names: 0,
    text,
    attachments:
      below === ''
        ? []
        : [
            {
              fallback: plain(title),
              color: settings['color'] || `#${color}`,
              title: slackText(plain(title)),
              title_link: url,
              text: below,
            },
          ],
  }
}

/** Telegram: sendMessage with HTML. */
function telegram({ title, body, sender }: EventMessage) {
  const head = `${written(title, htmlLink, htmlText)} by ${htmlText(sender.login)}`
  const below = written(body, htmlLink, htmlText)
  return {
    text: below === '' ? head : `${head}\n\n${below}`,
    parse_mode: 'HTML',
    disable_web_page_preview: true,
  }
}

/** Matrix: the event m.room.message with HTML. */
function matrix({ title, body, sender }: EventMessage) {
  const head = `${written(title, htmlLink, htmlText)} by ${htmlText(sender.login)}`
  const below = written(body, htmlLink, htmlText).replaceAll('\n', '<br>')
  const text = [`${plain(title)} by ${sender.login}`, written(body, markdownLink)]
  return {
    msgtype: 'm.notice',
    body: text.filter(Boolean).join('\n'),
    format: 'org.matrix.custom.html',
    formatted_body: below === '' ? head : `${head}<br>${below}`,
  }
}

/** Microsoft Teams: a MessageCard. */
function msteams({ title, body, url, color, sender, repository }: EventMessage) {
  const facts =
    repository === undefined ? [] : [{ name: 'Repository:', value: repository.full_name }]
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: color,
    title: plain(title),
    summary: plain(title),
    sections: [
      {
        activityTitle: sender.full_name ?? '',
        activitySubtitle: sender.login,
        activityImage: sender.avatar_url ?? '',
        facts,
        text: written(body, markdownLink).replaceAll('\n', '\n\n'),
      },
    ],
    potentialAction: [{ '@type': 'OpenUri', name: 'View', targets: [{ os: 'default', uri: url }] }],
  }
}

/** DingTalk: an action card with one button. */
function dingtalk({ title, body, url, sender }: EventMessage) {
  const text = [`${plain(title)} by ${sender.login}`, written(body, markdownLink)]
  return {
    msgtype: 'actionCard',
    actionCard: {
      title: plain(title),
      text: text.filter(Boolean).join('\n\n'),
      hideAvatar: '0',
      singleTitle: 'View',
      singleURL: `dingtalk://dingtalkclient/page/link?pc_slide=false&url=${encodeURIComponent(url)}`,
    },
  }
}

/** Feishu: a text message. */
function feishu({ title, body, url, sender }: EventMessage) {
  const lines = [`${plain(title)} by ${sender.login}`, url, written(body, markdownLink)]
  return { msg_type: 'text', content: { text: lines.filter(Boolean).join('\r\n') } }
}

/** WeCom: a Markdown message. */
function wechatwork({ title, body, sender }: EventMessage) {
  const head = `${written(title, markdownLink)} by ${sender.login}`
  const below = written(body, markdownLink)
  const quoted = below === '' ? '' : `\n${below.replace(/^/gm, '>')}`
  return { msgtype: 'markdown', markdown: { content: head + quoted } }
}

type Link = (text: string, url: string) => string

const asIs = (text: string) => text

function written(parts: readonly Part[], link: Link, encode: (text: string) => string = asIs) {
  return parts
    .map((part) => {
      if (typeof part === 'string') return encode(part)
      return part.url === '' ? encode(part.text) : link(part.text, part.url)
    })
    .join('')
}

function plain(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')
}

function markdownLink(text: string, url: string): string {
  return `[${text.replace(/[[\]]/g, ' ')}](${url.replaceAll(')', '%29')})`
}

function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function slackLink(text: string, url: string): string {
  return `<${slackText(url).replaceAll('|', '%7C')}|${slackText(text)}>`
}

function htmlText(text: string): string {
  return slackText(text).replaceAll('"', '&quot;')
}

function htmlLink(text: string, url: string): string {
  return `<a href="${htmlText(url)}">${htmlText(text)}</a>`
}
