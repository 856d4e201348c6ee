package com.acme;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Currency;
import java.util.Date;
import java.util.Locale;
import java.util.UUID;

/** Value types that need no java.time. */
public class Invoice implements Serializable {
    private static final long serialVersionUID = 1L;

    private UUID id;
    private BigDecimal total;
    private BigInteger serial;
    private Currency currency;
    private Locale locale;
    private Date due;
    private Color stamp;

    public Invoice() {
    }

    public Invoice(UUID id, BigDecimal total, BigInteger serial, Currency currency, Locale locale, Date due,
            Color stamp) {
        this.id = id;
        this.total = total;
        this.serial = serial;
        this.currency = currency;
        this.locale = locale;
        this.due = due;
        this.stamp = stamp;
    }
}
