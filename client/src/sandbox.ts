// A sandbox: a marketplace with its own key and a clock that `advance` moves.
import type { paths } from './api.ts'
import type { Call } from './calls.ts'

type Body<P extends keyof paths> = paths[P] extends { post: { requestBody?: { content: { 'application/json': infer B } } } } ? B : never

type Answered<P extends keyof paths, S extends number> = paths[P] extends {
  post: { responses: Record<S, { content: { 'application/json': { data: infer D } } }> }
}
  ? D
  : never

export type SandboxState = Answered<'/api/v1/sandbox/advance', 200>

const POLL_MS = 500

/** The calls of a client that a sandbox uses. */
interface Calls {
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  readonly delete: Call<'delete'>
}

/** A sandbox that was created with a live key. */
export class MintmarkSandbox<Client extends Calls> {
  readonly id: number
  /** its test key: store it to use the sandbox again */
  readonly key: string
  /** calls in the sandbox */
  readonly client: Client
  readonly #live: Client

  constructor({ id, key }: { id: number; key: string }, client: Client, live: Client) {
    this.id = id
    this.key = key
    this.client = client
    this.#live = live
  }

  /** The sandbox as it is now. */
  async state(): Promise<SandboxState> {
    const { data } = await this.client.get('/api/v1/sandbox')
    return data[0]!
  }

  /** Moves its clock, and waits until everything that became due has happened; `problem` says why it may have ended early. */
  async advance(body: Body<'/api/v1/sandbox/advance'>): Promise<SandboxState> {
    let { data: state } = await this.client.post('/api/v1/sandbox/advance', { body })
    while (state.status === 'advancing') {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      state = await this.state()
    }
    return state
  }

  /** Sells listings, as the shop does. */
  async sell(body: Body<'/api/v1/sandbox/sell'>): Promise<Answered<'/api/v1/sandbox/sell', 201>> {
    return (await this.client.post('/api/v1/sandbox/sell', { body })).data
  }

  /** Cancels an order or some of its lines, as the shop does. */
  async refund(body: Body<'/api/v1/sandbox/refund'>): Promise<Answered<'/api/v1/sandbox/refund', 200>> {
    return (await this.client.post('/api/v1/sandbox/refund', { body })).data
  }

  /** Approves or rejects a listing, as the operator does. */
  async decide(body: Body<'/api/v1/sandbox/decide'>): Promise<Answered<'/api/v1/sandbox/decide', 200>> {
    return (await this.client.post('/api/v1/sandbox/decide', { body })).data
  }

  /** Sets prices of sources, as the operator does. */
  async prices(body: Body<'/api/v1/sandbox/prices'>): Promise<Answered<'/api/v1/sandbox/prices', 200>> {
    return (await this.client.post('/api/v1/sandbox/prices', { body })).data
  }

  /** Returns to the start; the key stays. */
  async reset(): Promise<SandboxState> {
    return (await this.client.post('/api/v1/sandbox/reset')).data
  }

  /** Deletes the sandbox with everything in it. */
  async remove(): Promise<void> {
    await this.#live.delete('/api/v1/sandbox/{id}', { params: { path: { id: this.id } } })
  }
}
