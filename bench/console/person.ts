// Simulates a person at the console in a real browser: clicks, keystrokes and waiting, and the duration by a keystroke-level model.
import type { Locator, Page } from 'playwright-core'

/** Seconds of the keystroke-level model (Card, Moran and Newell 1980): a skilled typist, a mouse, and the time to decide on the next step. */
const SECONDS = { key: 0.28, point: 1.1, press: 0.2, home: 0.4, think: 1.35 }

/** The effort of a task. */
export interface Effort {
  /** pages of the console that were opened */
  pages: number
  clicks: number
  /** typed characters and single keys; each key of a chord counts */
  keys: number
  /** decisions: one before each click, key or text, plus those without an action */
  thoughts: number
  /** moves of the hand between mouse and keyboard */
  moves: number
  /** milliseconds spent waiting for the program */
  waitedMs: number
}

/** Minutes that a person needs for a task. */
export function minutesOf({ clicks, keys, thoughts, moves, waitedMs }: Effort): number {
  const hands = clicks * (SECONDS.point + SECONDS.press) + keys * SECONDS.key + moves * SECONDS.home
  return (hands + thoughts * SECONDS.think + waitedMs / 1000) / 60
}

export class Person {
  readonly page: Page
  #effort = nothing()
  #hand: 'mouse' | 'keyboard' = 'mouse'
  #path = ''

  constructor(page: Page) {
    this.page = page
    page.on('framenavigated', (frame) => {
      const { pathname } = new URL(page.url())
      if (frame !== page.mainFrame() || pathname === this.#path) return
      this.#path = pathname
      this.#effort.pages += 1
    })
  }

  /** Performs a task that starts at the first page of the console; opening that page is not counted. */
  async play(home: string, task: (person: Person) => Promise<void>): Promise<Effort> {
    await this.page.goto(home)
    await this.#settled()
    this.#effort = nothing()
    this.#hand = 'mouse'
    await task(this)
    return this.#effort
  }

  click(on: Locator): Promise<void> {
    this.#use('mouse')
    this.#effort.clicks += 1
    return this.#waiting(() => on.click())
  }

  /** Selects an option of a list with two clicks: one to open it, one to choose. */
  choose(from: Locator, value: string): Promise<void> {
    this.#use('mouse')
    this.#effort.clicks += 2
    return this.#waiting(() => from.selectOption(value).then(() => {}))
  }

  /** One key, or a chord such as `Control+k`. */
  press(key: string): Promise<void> {
    this.#use('keyboard')
    this.#effort.keys += key.split('+').length
    return this.#waiting(() => this.page.keyboard.press(key))
  }

  type(text: string): Promise<void> {
    this.#use('keyboard')
    this.#effort.keys += text.length
    return this.#waiting(() => this.page.keyboard.type(text))
  }

  /** Selects a word and copies it: a double click and a chord. */
  copy(): void {
    this.#use('mouse')
    this.#effort.clicks += 2
    this.#use('keyboard')
    this.#effort.keys += 2
  }

  /** Pastes the copied text; its characters are not counted as typed. */
  paste(text: string): Promise<void> {
    this.#use('keyboard')
    this.#effort.keys += 2
    return this.#waiting(() => this.page.keyboard.insertText(text))
  }

  /** Uploads a file: one click opens the system's dialog, a double click chooses the file. */
  async hand(over: Locator, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    this.#use('mouse')
    this.#effort.clicks += 3
    await this.#waiting(() => over.setInputFiles(file))
  }

  /** Reads and decides, without an action. */
  think(times = 1): void {
    this.#effort.thoughts += times
  }

  /** Waits until an element is visible. */
  see(what: Locator): Promise<void> {
    return this.#waiting(() => what.first().waitFor())
  }

  #use(hand: 'mouse' | 'keyboard'): void {
    this.#effort.thoughts += 1
    if (hand !== this.#hand) this.#effort.moves += 1
    this.#hand = hand
  }

  async #waiting(act: () => Promise<void>): Promise<void> {
    const began = performance.now()
    await act()
    await this.#settled()
    this.#effort.waitedMs += performance.now() - began
  }

  /** Waits until the page has loaded all its data. */
  async #settled(): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  }
}

function nothing(): Effort {
  return { pages: 0, clicks: 0, keys: 0, thoughts: 0, moves: 0, waitedMs: 0 }
}
