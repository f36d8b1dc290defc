/** Debian's headless Chromium for tests of pages: faults, accessibility and screenshots. */

import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { isFullSize } from './test-size.js'

/** Chromium without windows, which takes two thirds of the CPU time of the complete one. */
const PROGRAM = '/usr/bin/chromium-headless-shell'

/** Switches that prevent the browser's own network requests. */
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
]

/** Folder for screenshots of the pages, for manual review. */
export const PICTURES = fileURLToPath(new URL('../../../.tap/pictures', import.meta.url))

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Dialogs, script errors and violations of the content security policy. */
  readonly faults: readonly string[]
}

export interface VisitorOptions {
  /** True by default, so that scripts injected into a page would run. */
  readonly hasScripts?: boolean
}

/** Starts a browser; returns a function that opens a page in a new session. */
export async function openBrowser(
  t: Teardown,
): Promise<(options?: VisitorOptions) => Promise<Visitor>> {
  const browser = await chromium.launch({ executablePath: PROGRAM, args: SWITCHES })
  t.teardown(() => browser.close())
  return async ({ hasScripts = true } = {}) => {
    const context = await browser.newContext({ javaScriptEnabled: hasScripts })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('dialog', (dialog) => {
      faults.push(`${page.url()}: a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) {
        faults.push(`${page.url()}: ${message.text()}`)
      }
    })
    return { page, context, faults }
  }
}

/** Adds a virtual security key to the page's browser; it confirms every request. */
export async function addVirtualKey(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'usb', automaticPresenceSimulation: true },
  })
}

const VIEWPORTS = [
  { name: 'desktop', width: 1_280, height: 900 },
  { name: 'phone', width: 390, height: 844 },
] as const

/** Takes screenshots of the open page: wide and narrow, light and dark. Only at full size. */
export async function takePictures(page: Page, name: string): Promise<void> {
  if (!isFullSize) return
  await mkdir(PICTURES, { recursive: true })
  for (const { name: viewport, ...size } of VIEWPORTS) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(PICTURES, `${name}-${viewport}-${colorScheme}.png`) })
    }
  }
  await page.setViewportSize({ width: 1_280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Script that runs axe's rules whose violations are serious or critical. */
const RUN_AXE = `axe.run({
  runOnly: axe._audit.rules
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .filter(({ enabled, tags }) => enabled && !tags.includes('experimental'))
    .map(({ id }) => id),
  resultTypes: ['violations'],
  reporter: 'no-passes',
  preload: false,
  iframes: false,
})`

/** Returns the page's serious and critical accessibility violations by axe's rules. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
    // DevTools evaluates the script, so the page's security policy need not permit it. Later pages
    // have it from the start, so that the browser compiles it only once.
    await page.evaluate(await readFile(path, 'utf8'))
    await page.addInitScript({ path })
  }
  const found = (await page.evaluate(RUN_AXE)) as {
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly impact: string
      readonly nodes: ReadonlyArray<{ readonly html: string }>
    }>
  }
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
