// A person at the console, played in a real browser: what they click, type and wait for, and the minutes that a keystroke-level model gives it.
import type { Locator, Page } from 'playwright-core'

/** Seconds of the keystroke-level model (Card, Moran and Newell 1980): a skilled typist, a mouse, and the time to decide what comes next. */
const SECONDS = { key: 0.28, point: 1.1, press: 0.2, home: 0.4, think: 1.35 }

/** What a task took. */
export interface Effort {
  /** pages of the console that were opened */
  pages: number
  clicks: number
  /** typed characters and single keys; a chord counts each of its keys */
  keys: number
  /** decisions: one before each click, key or text, and those that the person makes without any */
  thoughts: number
  /** moves of the hand between mouse and keyboard */
  moves: number
  /** milliseconds that the person waited for the program */
  waitedMs: number
}

/** Minutes of the person for a task. */
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

  /** Plays a task from the first page of the console; opening that is not counted. */
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

  /** Takes an option of a list: one click opens it, one takes it. */
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

  /** Selects a word and copies it, to paste it elsewhere: a double click and a chord. */
  copy(): void {
    this.#use('mouse')
    this.#effort.clicks += 2
    this.#use('keyboard')
    this.#effort.keys += 2
  }

  /** Pastes what was copied; the characters are those of the program, not of the person. */
  paste(text: string): Promise<void> {
    this.#use('keyboard')
    this.#effort.keys += 2
    return this.#waiting(() => this.page.keyboard.insertText(text))
  }

  /** Hands a file over: one click opens the system's dialog, a double click takes the file. */
  async hand(over: Locator, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    this.#use('mouse')
    this.#effort.clicks += 3
    await this.#waiting(() => over.setInputFiles(file))
  }

  /** Reads and decides, without an act. */
  think(times = 1): void {
    this.#effort.thoughts += times
  }

  /** Waits until something is shown. */
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

  /** Until the page shows everything that it asked for. */
  async #settled(): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  }
}

function nothing(): Effort {
  return { pages: 0, clicks: 0, keys: 0, thoughts: 0, moves: 0, waitedMs: 0 }
}
