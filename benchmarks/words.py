"""What the agents of the corpus talk about: text of several scripts, as a support desk meets it.

Decided here: only content. A corpus of ASCII alone would spare every parser its slow path for UTF-8.
"""

# ruff: noqa: RUF001 - letters that look alike are what text of several scripts is made of

from __future__ import annotations

SENTENCES = (
    "Guten Tag, meine Bestellung ist seit über zwei Wochen unterwegs und die Sendungsverfolgung steht still.",
    "Bonjour, le numéro de suivi n’existe pas ; pouvez-vous vérifier l’adresse de livraison à Besançon ?",
    "The customer was charged twice for order line 3 — the second charge has to go back to the same card.",
    "注文番号の確認をお願いします。昨日の夜から状況が変わっていません。",
    "Proszę o korektę faktury: nazwa firmy powinna brzmieć „Żółć i Syn” sp. z o.o.",
    "Olá, o código promocional não foi aplicado ao finalizar a compra às 23h59.",
    "The address was corrected by phone; see note “Hinterhaus, 3. Stock links”. Ship again at no cost.",
    "السلام عليكم، أرجو إلغاء الطلب قبل الشحن وإعادة المبلغ إلى البطاقة نفسها.",
    "Parcel weighs 2.4 kg instead of the 1.9 kg declared; the carrier asks for a surcharge of 3.20 €.",
    "Please answer by tomorrow noon 🙏 — the present is for Friday.",
    "Η παραγγελία έφτασε χωρίς το δεύτερο κουτί· το τιμολόγιο όμως το αναφέρει.",
    "Stock level of SKU 88-1207 is below the threshold in Łódź and in Malmö, sufficient in Graz.",
    "Refund was approved up to 120.00 €; anything above needs a second pair of eyes.",
    "Здравствуйте! Посылка вернулась отправителю, хотя в графе «получатель» всё указано верно.",
    "Tool output was truncated after 4096 characters:\n\tline 1: status=“in transit”\n\tline 2: hub=København",
    "Summarise the thread in at most three sentences, keep names and amounts exactly as they are.",
)

CITIES = (
    "Zürich",
    "Besançon",
    "Łódź",
    "Malmö",
    "København",
    "Graz",
    "Αθήνα",
    "札幌市",
    "São Paulo",
    "Gdańsk",
)
STREETS = ("Straße des 17. Juni", "rue de l’Église", "ulica Świętokrzyska", "Ångströmsgatan", "Nørregade")
NAMES = ("Jürgen Weiß", "Zoë Lefèvre", "Łukasz Żak", "Åsa Öberg", "María Núñez", "佐藤 花子", "Νίκος Παπάς")
READS = ("fetch_order", "search_mail", "look_up_customer", "track_parcel", "list_invoices", "read_stock")
STEPS = ("triage", "plan", "gather", "draft", "review", "act", "check", "report", "follow_up", "close")
