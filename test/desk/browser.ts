// A browser on the seller's desk of a test node, signed in with an API key; and listings to work on.
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { operator, signInWith, type Visit, visitPages } from '../console/browser.ts'
import type { TestNode } from '../support/node.ts'

export function visitDesk(browser: Browser, node: TestNode, options: BrowserContextOptions = {}): Promise<Visit> {
  return visitPages(browser, `${node.publicUrl}/desk`, options)
}

export async function signedInToDesk(browser: Browser, node: TestNode, key: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const visited = await visitDesk(browser, node, options)
  await visited.open('')
  await signInWith(visited, key)
  return visited
}

/** A listing of the Plus account, approved by default. */
export async function listingOf(
  node: TestNode,
  fields: { title: string; price?: number; quantity?: number; offers_enabled?: boolean },
  approved = true,
): Promise<number> {
  const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
  const body = { seller_id: node.accounts.plus, item_id: item!.id, price: 100, quantity: 1, ...fields }
  const { id } = await operator<{ id: number }>(node, 'POST', '/listings', body)
  if (approved) await operator(node, 'POST', `/listings/${id}/approve`, {})
  return id
}
