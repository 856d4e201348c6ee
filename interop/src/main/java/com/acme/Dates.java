package com.acme;

import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.UUID;

public class Dates implements Serializable {
    private Date created;
    private Instant instant;
    private LocalDate day;
    private ZonedDateTime meeting;
    private Duration lasts;
    private UUID id;

    public Dates() {
    }

    public Dates(Date created, Instant instant, LocalDate day, ZonedDateTime meeting, Duration lasts, UUID id) {
        this.created = created;
        this.instant = instant;
        this.day = day;
        this.meeting = meeting;
        this.lasts = lasts;
        this.id = id;
    }
}
