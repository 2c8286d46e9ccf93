// The bell in the frame: a link to the notifications, with the number of unread ones.
import { signal } from '@preact/signals'
import bell from './icons/bell.svg?raw'
import { useLocation } from 'preact-iso'
import { useData } from './data.ts'
import { Icon } from './icon.tsx'
import { count, t } from './words.ts'

const REFRESH_MS = 60_000
/** Above this, only the name of the link has the number. */
const MAX_SHOWN = 99

/** Counts what was marked as read since the page was loaded, so that the bell follows. */
export const marks = signal(0)

/** @param path of the list in the API; @param href of its page */
export function Bell({ path, href }: { path: string; href: string }) {
  // Reloads on each page, because something may have been read or fixed.
  const { url, path: page } = useLocation()
  const query = { unread: 1, per_page: 1 }
  const unread = useData(path, { query, again: () => REFRESH_MS, version: `${url} ${marks.value}` }).pagination?.total ?? 0
  const name = unread === 0 ? t('notifications') : t('notificationsUnread', { count: unread })
  return (
    <a class="bell" href={href} title={name} aria-label={name} aria-current={page === href ? 'page' : undefined}>
      <Icon of={bell} />
      {unread > 0 && <span aria-hidden="true">{unread > MAX_SHOWN ? `${MAX_SHOWN}+` : count(unread)}</span>}
    </a>
  )
}
