// Icons of the navigation, by address.
import calendarCheck from 'lucide-static/icons/calendar-check.svg?raw'
import eye from 'lucide-static/icons/eye.svg?raw'
import folderHeart from 'lucide-static/icons/folder-heart.svg?raw'
import flaskConical from 'lucide-static/icons/flask-conical.svg?raw'
import receipt from 'lucide-static/icons/receipt.svg?raw'
import tags from 'lucide-static/icons/tags.svg?raw'
import user from 'lucide-static/icons/user.svg?raw'
import webhook from 'lucide-static/icons/webhook.svg?raw'

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
