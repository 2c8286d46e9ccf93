// Icons of the navigation, by address.
import calendarCheck from './icons/calendar-check.svg?raw'
import eye from './icons/eye.svg?raw'
import folderHeart from './icons/folder-heart.svg?raw'
import flaskConical from './icons/flask-conical.svg?raw'
import receipt from './icons/receipt.svg?raw'
import tags from './icons/tags.svg?raw'
import user from './icons/user.svg?raw'
import webhook from './icons/webhook.svg?raw'

export const ICONS: Record<string, string> = {
  '/desk/today': calendarCheck,
  '/desk': tags,
  '/desk/orders': receipt,
  '/desk/collections': folderHeart,
  '/desk/watches': eye,
  '/desk/webhook': webhook,
  '/desk/sandbox': flaskConical,
  '/desk/account': user,
}
